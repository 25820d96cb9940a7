#include "pipeline/source/open.h"

#include <string_view>

#include "pipeline/source/live/live_source.h"
#include "pipeline/source/test/test_source.h"

namespace saccade {

std::unique_ptr<FrameSource> open_source(const SourceConfig& config) {
  if (std::string_view(config.uri).starts_with("test://")) return open_test_source(config);
  return open_stream(config);
}

}  // namespace saccade
