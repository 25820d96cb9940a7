// The FFmpeg libraries in use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace saccade {

// Name and version of each FFmpeg library as loaded: {"libavcodec", "59.37.100"} ...
std::vector<std::pair<std::string, std::string>> ffmpeg_libraries();

}  // namespace saccade
