#include "pipeline/source/ffmpeg/late_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "pipeline/error.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

#ifndef SACCADE_FFMPEG_SUFFIX
#define SACCADE_FFMPEG_SUFFIX ""  // of FFmpeg's names, where it was built with one
#endif

namespace saccade {

LateLibrary::LateLibrary(const std::string& name, int major, const std::string& user)
    : user_(user),
      name_(fmt::format("{}{}", name, major)),
      soname_(fmt::format("{}" SACCADE_FFMPEG_SUFFIX ".so.{}", name, major)),
      handle_(dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) fail();
}

void* LateLibrary::find(const char* symbol) const {
  void* found = dlsym(handle_, symbol);
  if (found == nullptr) fail();
  return found;
}

void LateLibrary::fail() const {
  const char* reason = dlerror();
  throw UnavailableError(fmt::format("{}: needs FFmpeg's {}, which can't be loaded: {}; install {}", user_, soname_,
                                     reason != nullptr ? reason : "no reason given", name_));
}

void register_devices(const std::string& user) {
  static const bool registered = [&user] {
    decltype(avdevice_register_all)* register_all = nullptr;
    LateLibrary("libavdevice", LIBAVDEVICE_VERSION_MAJOR, user).bind(register_all, "avdevice_register_all");
    register_all();
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace saccade
