#include "pipeline/source/screen/wayland/bus_calls.h"

#include "pipeline/late_library.h"

namespace saccade::wayland {

#define SACCADE_DEFINE_CALL(name) decltype(&::name) name = nullptr;
SACCADE_BUS_CALLS(SACCADE_DEFINE_CALL)
#undef SACCADE_DEFINE_CALL

void load_bus_calls(const std::string& user) {
  static const bool loaded = [&user] {
    const LateLibrary library(user, "libsystemd.so.0", "libsystemd0");
#define SACCADE_BIND_CALL(name) library.bind(name, #name);
    SACCADE_BUS_CALLS(SACCADE_BIND_CALL)
#undef SACCADE_BIND_CALL
    return true;
  }();
  static_cast<void>(loaded);
}

}  // namespace saccade::wayland
