// When a live frame was captured, by this machine's steady clock.
#pragma once

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/frame/frame.h"

namespace saccade {

// Note [Capture time]
// A camera's driver stamps its frames by this machine's clock, and FFmpeg gives those stamps on as PTS. RTSP senders
// tell by RTCP which wall-clock time the stream's zero has. Both count only when they put the capture before
// the arrival, by less than ten seconds; otherwise the arrival stands in.
FrameOrigin frame_origin(const AVFormatContext& format, bool is_device, std::int64_t pts_ns, std::int64_t arrived_ns);

}  // namespace saccade
