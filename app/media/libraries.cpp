#include "app/media/libraries.h"

#include "pipeline/error.h"
#include "pipeline/source/convert/filter_graph.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <fmt/format.h>

namespace saccade {
namespace {

std::string dotted(unsigned version) {
  return fmt::format("{}.{}.{}", AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version), AV_VERSION_MICRO(version));
}

std::string filters() {
  try {
    return dotted(filter_library_version());
  } catch (const UnavailableError&) {
    return "missing";
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ffmpeg_libraries() {
  return {{"libavcodec", dotted(avcodec_version())},
          {"libavformat", dotted(avformat_version())},
          {"libavfilter", filters()},
          {"libavutil", dotted(avutil_version())},
          {"libswscale", dotted(swscale_version())}};
}

}  // namespace saccade
