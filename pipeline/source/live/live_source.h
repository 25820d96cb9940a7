// Live streams: when their frames came to be, and what happens when they break.
#pragma once

#include "pipeline/source/demux/input.h"

namespace saccade {

// Opens what is no test pattern. A live stream that breaks is opened again, as LiveConfig says; its frames' times then
// go on from the last one by the clock, or by the stream's own time where that has gone on. Throws as open_decoder(),
// UsageError for options that a live stream can't follow.
std::unique_ptr<FrameSource> open_stream(const SourceConfig& config);

// Note [Capture time]
// A camera's driver stamps its frames by this machine's clock, and FFmpeg gives those stamps on as PTS. RTSP senders
// tell by RTCP which wall-clock time the stream's zero has. Both count only when they put the capture before
// the arrival, by less than ten seconds; otherwise the arrival stands in.
FrameOrigin frame_origin(const AVFormatContext& format, bool is_device, std::int64_t pts_ns, std::int64_t arrived_ns);

}  // namespace saccade
