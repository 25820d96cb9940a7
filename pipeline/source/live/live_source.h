// Live streams: what happens when they break.
#pragma once

#include "pipeline/source/demux/input.h"

namespace saccade {

// Opens what is no test pattern. A live stream that breaks is opened again, as LiveConfig says; its frames' times then
// go on from the last one by the clock, or by the stream's own time where that has gone on. Throws as open_decoder(),
// UsageError for options that a live stream can't follow.
std::unique_ptr<FrameSource> open_stream(const SourceConfig& config);

}  // namespace saccade
