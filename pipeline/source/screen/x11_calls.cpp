#include "pipeline/source/screen/x11_calls.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "pipeline/error.h"

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

[[noreturn]] void fail(const std::string& user, const std::string& library) {
  const char* const reason = dlerror();
  throw UnavailableError(
      fmt::format("{}: needs {}, which can't be loaded: {}; install it (Debian: libxcb1, libxcb-shm0, "
                  "libxcb-damage0, libxcb-xfixes0, libxcb-randr0, libxcb-composite0, libxcb-xinput0)",
                  user, library, reason != nullptr ? reason : "no reason given"));
}

class Library {
 public:
  Library(const std::string& user, const char* name)
      : user_(user), name_(name), handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) fail(user_, name_);
  }
  template <typename Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (function == nullptr) fail(user_, name_);
  }

 private:
  std::string user_, name_;
  void* handle_;
};

bool load_all(const std::string& user) {
#define SACCADE_BIND_CALL(name) library.bind(name, #name);
#define SACCADE_LOAD(calls, soname)      \
  {                                      \
    const Library library(user, soname); \
    calls(SACCADE_BIND_CALL)             \
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
