// FFmpeg's libraries that only some inputs need, opened when the first one does.
#pragma once

#include <string>

#include "pipeline/late_library.h"

namespace saccade {

// Note [Late libraries]
// libavfilter and libavdevice bring some 80 libraries of their own, which take longer to load than everything else that
// happens before the first frame. A file whose frames pass straight through needs neither. So they are not linked, but
// opened by the soname that belongs to their headers, and then stay.
// name: "libavfilter". user: what needs it, for the message. Throws UnavailableError where it is missing.
LateLibrary ffmpeg_library(const std::string& name, int major, const std::string& user);

// Makes av_find_input_format know the devices: cameras, lavfi. Any thread, any number of times.
// Throws UnavailableError.
void register_devices(const std::string& user);

}  // namespace saccade
