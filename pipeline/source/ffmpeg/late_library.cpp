#include "pipeline/source/ffmpeg/late_library.h"

#include <fmt/format.h>

extern "C" {
#include <libavdevice/avdevice.h>
}

#ifndef SACCADE_FFMPEG_SUFFIX
#define SACCADE_FFMPEG_SUFFIX ""  // of FFmpeg's names, where it was built with one
#endif

namespace saccade {

LateLibrary ffmpeg_library(const std::string& name, int major, const std::string& user) {
  return {user, fmt::format("{}" SACCADE_FFMPEG_SUFFIX ".so.{}", name, major), fmt::format("{}{}", name, major)};
}

void register_devices(const std::string& user) {
  static const bool registered = [&user] {
    decltype(avdevice_register_all)* register_all = nullptr;
    ffmpeg_library("libavdevice", LIBAVDEVICE_VERSION_MAJOR, user).bind(register_all, "avdevice_register_all");
    register_all();
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace saccade
