// The functions of XCB that are used here, opened when the first screen is.
#pragma once

#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xfixes.h>
#include <xcb/xinput.h>

#include <string>

namespace saccade::x11 {

// Note [Late XCB]
// A server has no screen, and often none of these seven libraries. So they are not linked: names of this namespace hide
// XCB's own functions, and point to them once load_calls() has returned.

// clang-format off
#define SACCADE_XCB_CALLS(call) \
  call(xcb_change_window_attributes) call(xcb_connect) call(xcb_connection_has_error) call(xcb_depth_next) \
  call(xcb_depth_visuals_iterator) call(xcb_disconnect) call(xcb_flush) call(xcb_free_pixmap) call(xcb_generate_id) \
  call(xcb_get_file_descriptor) call(xcb_get_geometry) call(xcb_get_geometry_reply) call(xcb_get_image) \
  call(xcb_get_image_data) call(xcb_get_image_reply) call(xcb_get_input_focus) call(xcb_get_input_focus_reply) \
  call(xcb_get_property) call(xcb_get_property_reply) \
  call(xcb_get_property_value) call(xcb_get_property_value_length) call(xcb_get_setup) \
  call(xcb_get_window_attributes) call(xcb_get_window_attributes_reply) call(xcb_grab_server) call(xcb_intern_atom) \
  call(xcb_intern_atom_reply) call(xcb_poll_for_event) call(xcb_query_extension) call(xcb_query_extension_reply) \
  call(xcb_query_tree) call(xcb_query_tree_children) call(xcb_query_tree_children_length) \
  call(xcb_query_tree_reply) call(xcb_request_check) call(xcb_send_request) call(xcb_screen_allowed_depths_iterator) call(xcb_screen_next) \
  call(xcb_setup_roots_iterator) call(xcb_translate_coordinates) call(xcb_translate_coordinates_reply) \
  call(xcb_ungrab_server) call(xcb_visualtype_next)
#define SACCADE_SHM_CALLS(call) \
  call(xcb_shm_attach_checked) call(xcb_shm_detach) call(xcb_shm_get_image) call(xcb_shm_get_image_reply)
#define SACCADE_DAMAGE_CALLS(call) \
  call(xcb_damage_create) call(xcb_damage_query_version) call(xcb_damage_query_version_reply) \
  call(xcb_damage_subtract)
#define SACCADE_XFIXES_CALLS(call) \
  call(xcb_xfixes_create_region) call(xcb_xfixes_fetch_region) call(xcb_xfixes_fetch_region_rectangles) \
  call(xcb_xfixes_fetch_region_rectangles_length) call(xcb_xfixes_fetch_region_reply) \
  call(xcb_xfixes_get_cursor_image) call(xcb_xfixes_get_cursor_image_cursor_image) \
  call(xcb_xfixes_get_cursor_image_reply) call(xcb_xfixes_query_version) call(xcb_xfixes_query_version_reply) \
  call(xcb_xfixes_select_cursor_input)
#define SACCADE_RANDR_CALLS(call) \
  call(xcb_randr_get_crtc_info) call(xcb_randr_get_crtc_info_reply) call(xcb_randr_get_output_info) \
  call(xcb_randr_get_output_info_name) call(xcb_randr_get_output_info_name_length) \
  call(xcb_randr_get_output_info_reply) call(xcb_randr_get_screen_resources_current) \
  call(xcb_randr_get_screen_resources_current_outputs) call(xcb_randr_get_screen_resources_current_outputs_length) \
  call(xcb_randr_get_screen_resources_current_reply) call(xcb_randr_select_input)
#define SACCADE_COMPOSITE_CALLS(call) \
  call(xcb_composite_name_window_pixmap_checked) call(xcb_composite_query_version) \
  call(xcb_composite_query_version_reply) call(xcb_composite_redirect_window)
#define SACCADE_XINPUT_CALLS(call) \
  call(xcb_input_xi_query_version) call(xcb_input_xi_query_version_reply) call(xcb_input_xi_select_events)
// clang-format on

#define SACCADE_DECLARE_CALL(name) extern decltype(&::name) name;  // NOLINT
SACCADE_XCB_CALLS(SACCADE_DECLARE_CALL)
SACCADE_SHM_CALLS(SACCADE_DECLARE_CALL)
SACCADE_DAMAGE_CALLS(SACCADE_DECLARE_CALL)
SACCADE_XFIXES_CALLS(SACCADE_DECLARE_CALL)
SACCADE_RANDR_CALLS(SACCADE_DECLARE_CALL)
SACCADE_COMPOSITE_CALLS(SACCADE_DECLARE_CALL)
SACCADE_XINPUT_CALLS(SACCADE_DECLARE_CALL)
#undef SACCADE_DECLARE_CALL

// Any thread, any number of times. user: what needs them, for the message. Throws UnavailableError.
void load_calls(const std::string& user);

}  // namespace saccade::x11
