// The functions of sd-bus (libsystemd) that are used here, opened when the desktop's portal first is.
#pragma once

#include <systemd/sd-bus.h>

#include <string>

namespace saccade::wayland {

// Note [Late XCB] holds for these, too.
// clang-format off
#define SACCADE_BUS_CALLS(call) \
  call(sd_bus_add_match) call(sd_bus_call) call(sd_bus_error_free) call(sd_bus_flush_close_unref) call(sd_bus_get_fd) \
  call(sd_bus_get_property_trivial) call(sd_bus_get_unique_name) call(sd_bus_match_signal) \
  call(sd_bus_message_append) call(sd_bus_message_close_container) call(sd_bus_message_enter_container) \
  call(sd_bus_message_exit_container) call(sd_bus_message_new_method_call) call(sd_bus_message_open_container) \
  call(sd_bus_message_read) call(sd_bus_message_skip) call(sd_bus_message_unref) call(sd_bus_open_user) \
  call(sd_bus_process)
// clang-format on
#define SACCADE_DECLARE_CALL(name) extern decltype(&::name) name;  // NOLINT
SACCADE_BUS_CALLS(SACCADE_DECLARE_CALL)
#undef SACCADE_DECLARE_CALL

// Any thread, any number of times. user: what needs them, for the message. Throws UnavailableError.
void load_bus_calls(const std::string& user);

}  // namespace saccade::wayland
