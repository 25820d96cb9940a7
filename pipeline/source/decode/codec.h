// The decoder of a stream, opened.
#pragma once

#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Note [Live threads]
// Frame threads hold back a frame each, so live streams get them only when threads were asked for. Slice threads hold
// back nothing, but H.264 in slices of threads has no error resilience in FFmpeg: damaged and lost slices are neither
// concealed nor counted. So live H.264 is decoded by one thread, which does 1080p at several times its rate; other
// codecs keep slice threads.

// FFmpeg's decoder for the stream, on the device where that is asked for and FFmpeg can. Frame threads hold back a
// frame each, so live streams get them only when threads were asked for. `log` gets its messages. Throws InputError,
// UnavailableError.
CodecContextPtr open_codec(const SourceConfig& config, const InputLocation& location, const VideoStream& video,
                           bool live, const FfmpegLog& log);

}  // namespace saccade
