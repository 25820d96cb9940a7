#include "pipeline/source/screen/wayland/pipewire_calls.h"

#include <cstdlib>

#include "pipeline/late_library.h"

namespace saccade::wayland {

#define SACCADE_DEFINE_CALL(name) decltype(&::name) name = nullptr;
SACCADE_PIPEWIRE_CALLS(SACCADE_DEFINE_CALL)
#undef SACCADE_DEFINE_CALL

void load_pipewire_calls(const std::string& user) {
  static const bool loaded = [&user] {
    const LateLibrary library(user, "libpipewire-0.3.so.0", "libpipewire-0.3-0 and pipewire-bin");
#define SACCADE_BIND_CALL(name) library.bind(name, #name);
    SACCADE_PIPEWIRE_CALLS(SACCADE_BIND_CALL)
#undef SACCADE_BIND_CALL
    pw_init(nullptr, nullptr);
    // PipeWire writes to stderr. What matters comes as an event, too.
    if (std::getenv("PIPEWIRE_DEBUG") == nullptr) pw_log_set_level(SPA_LOG_LEVEL_NONE);
    return true;
  }();
  static_cast<void>(loaded);
}

}  // namespace saccade::wayland
