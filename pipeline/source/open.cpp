#include "pipeline/source/open.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/error.h"
#include "pipeline/secrets.h"
#include "pipeline/source/decode/decoder.h"
#include "pipeline/source/demux/locate.h"
#include "pipeline/source/frame/input_name.h"
#include "pipeline/source/live/live_source.h"
#include "pipeline/source/screen/screen_source.h"
#include "pipeline/source/test/test_source.h"

namespace saccade {
namespace {

bool wants_part(const SourceConfig& config) {
  return config.start_s > 0 || config.duration_s || config.max_frames || config.loops != 0;
}

void refuse_loop(const SourceConfig& config) {
  if (config.loops == 0) return;
  throw UsageError(OfOption("loop").in(config.uri), "a live stream can't be looped", Hint::kNoLoop);
}

// A stream, or a file that lies elsewhere: that is known once it is open.
std::unique_ptr<FrameSource> open_live_or_remote(const SourceConfig& config, const InputLocation& location) {
  const auto open = [location](const SourceConfig& connection) { return open_decoder(connection, location); };
  const SourceConfig connection = connection_config(config);
  std::unique_ptr<FrameSource> first = open(connection);
  if (!first->info().live) {
    if (!wants_part(config)) return first;
    first.reset();
    return open(config);
  }
  refuse_loop(config);
  return follow_connections(config, connection, std::move(first), open, location.kind != InputKind::kDevice);
}

// A display that comes back may have another size: its picture keeps the first one.
std::unique_ptr<FrameSource> open_live_screen(const SourceConfig& config) {
  refuse_loop(config);
  const SourceConfig connection = connection_config(config);
  std::unique_ptr<FrameSource> first = open_screen(connection, {});
  const ScreenSize size{first->info().width_px, first->info().height_px};
  const auto open = [size](const SourceConfig& again) { return open_screen(again, size); };
  return follow_connections(config, connection, std::move(first), open, true);
}

}  // namespace

// The location keeps the URL; every message and fact has it masked: Note [Secrets].
std::unique_ptr<FrameSource> open_source(const SourceConfig& given) {
  if (names_test(given.uri)) return open_test_source(given);
  if (names_screen(given.uri)) return open_live_screen(given);
  const InputLocation location = locate_input(given.uri);
  SourceConfig config = given;
  config.uri = masked_uri(given.uri);
  if (may_be_live(location, config.live)) return open_live_or_remote(config, location);
  if (config.loops != 0 && location.kind == InputKind::kPipe) {
    throw UsageError(OfOption("loop").in("-"), "standard input can't be looped, a file can", Hint::kNoLoop);
  }
  return open_decoder(config, location);
}

}  // namespace saccade
