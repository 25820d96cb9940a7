#include "pipeline/source/screen/x11_calls.h"

#include "pipeline/late_library.h"

namespace saccade::x11 {

#define SACCADE_DEFINE_CALL(name) decltype(&::name) name = nullptr;
SACCADE_XCB_CALLS(SACCADE_DEFINE_CALL)
SACCADE_SHM_CALLS(SACCADE_DEFINE_CALL)
SACCADE_DAMAGE_CALLS(SACCADE_DEFINE_CALL)
SACCADE_XFIXES_CALLS(SACCADE_DEFINE_CALL)
SACCADE_RANDR_CALLS(SACCADE_DEFINE_CALL)
SACCADE_COMPOSITE_CALLS(SACCADE_DEFINE_CALL)
SACCADE_XINPUT_CALLS(SACCADE_DEFINE_CALL)
#undef SACCADE_DEFINE_CALL

namespace {

constexpr const char* kPackages =
    "libxcb1, libxcb-shm0, libxcb-damage0, libxcb-xfixes0, libxcb-randr0, libxcb-composite0, libxcb-xinput0";

bool load_all(const std::string& user) {
#define SACCADE_BIND_CALL(name) library.bind(name, #name);
#define SACCADE_LOAD(calls, soname)                     \
  {                                                     \
    const LateLibrary library(user, soname, kPackages); \
    calls(SACCADE_BIND_CALL)                            \
  }
  SACCADE_LOAD(SACCADE_XCB_CALLS, "libxcb.so.1")
  SACCADE_LOAD(SACCADE_SHM_CALLS, "libxcb-shm.so.0")
  SACCADE_LOAD(SACCADE_DAMAGE_CALLS, "libxcb-damage.so.0")
  SACCADE_LOAD(SACCADE_XFIXES_CALLS, "libxcb-xfixes.so.0")
  SACCADE_LOAD(SACCADE_RANDR_CALLS, "libxcb-randr.so.0")
  SACCADE_LOAD(SACCADE_COMPOSITE_CALLS, "libxcb-composite.so.0")
  SACCADE_LOAD(SACCADE_XINPUT_CALLS, "libxcb-xinput.so.0")
#undef SACCADE_LOAD
#undef SACCADE_BIND_CALL
  return true;
}

}  // namespace

void load_calls(const std::string& user) {
  static const bool loaded = load_all(user);
  static_cast<void>(loaded);
}

}  // namespace saccade::x11
