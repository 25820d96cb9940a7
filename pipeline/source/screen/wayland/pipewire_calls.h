// The functions of libpipewire that are used here, opened when the first Wayland screen is.
#pragma once

#include <pipewire/pipewire.h>

#include <string>

namespace saccade::wayland {

// Note [Late XCB] holds for these, too.
// clang-format off
#define SACCADE_PIPEWIRE_CALLS(call) \
  call(pw_context_connect_fd) call(pw_context_destroy) call(pw_context_new) call(pw_core_disconnect) call(pw_init) \
  call(pw_log_set_level) call(pw_properties_new) call(pw_stream_add_listener) call(pw_stream_connect) \
  call(pw_stream_dequeue_buffer) call(pw_stream_destroy) call(pw_stream_new) call(pw_stream_queue_buffer) \
  call(pw_stream_update_params) call(pw_thread_loop_destroy) call(pw_thread_loop_get_loop) call(pw_thread_loop_lock) \
  call(pw_thread_loop_new) call(pw_thread_loop_start) call(pw_thread_loop_stop) call(pw_thread_loop_unlock)
// clang-format on
#define SACCADE_DECLARE_CALL(name) extern decltype(&::name) name;  // NOLINT
SACCADE_PIPEWIRE_CALLS(SACCADE_DECLARE_CALL)
#undef SACCADE_DECLARE_CALL

// And pw_init(). Any thread, any number of times. user: what needs them, for the message. Throws UnavailableError.
void load_pipewire_calls(const std::string& user);

}  // namespace saccade::wayland
