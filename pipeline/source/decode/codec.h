// The decoder of a stream, opened.
#pragma once

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// FFmpeg's decoder for the stream, on the device where that is asked for and FFmpeg can. Frame threads hold back a
// frame each, so live streams get them only when threads were asked for. `log` gets its messages. Throws InputError,
// UnavailableError.
CodecContextPtr open_codec(const SourceConfig& config, const InputLocation& location, const VideoStream& video,
                           bool live, const FfmpegLog& log);

}  // namespace saccade
