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

// Note [New decoders]
// Every stream gets a new decoder of FFmpeg's, also where many of one kind follow each other. A flushed one is fit for
// another place in the same stream, not for another stream: HEVC's keeps the display orientation of an SEI message, and
// so would rotate the next video; H.264's keeps parameter sets that came between pictures, and what it learned of their
// order. To open one takes less than 0.1 ms. What takes long is NVDEC's part, and that is kept below FFmpeg: Note [Kept
// decoders] in gpu/nvdec/decoder_cache.h.

// FFmpeg's decoder for the stream, on the device where that is asked for and FFmpeg can; `live` chooses the threads:
// Note [Live threads]. `log` gets its messages. Throws InputError or UnavailableError.
CodecContextPtr open_codec(const SourceConfig& config, const InputLocation& location, const VideoStream& video,
                           bool live, const FfmpegLog& log);

}  // namespace saccade
