// NVDEC through FFmpeg's CUDA hwaccel, and frames that lie on the device. FFmpeg loads the driver: nothing is linked.
#pragma once

#include <string>
#include <vector>

#include "pipeline/source/frame/stream_info.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace saccade {

// What decodes for those who ask for hardware and name none.
inline constexpr HwDecode kAnyHwDecode = HwDecode::kCuda;

// Why nothing can be decoded by it on this device; empty when it can. device: CUDA's ordinal.
std::string why_no_decoding(HwDecode by, int device = 0);

// The codecs for which this FFmpeg has such a path, by name. Which of them a device takes depends on the device.
std::vector<std::string> cuda_codecs();

// Null: FFmpeg has no such path for this codec.
const AVCodec* find_cuda_decoder(AVCodecID id);

// Before the codec is opened. Frames the device can't decode come out on the host all the same. In the device's primary
// context and in a stream of the decoder's own: Note [FFmpeg on a device]. new_decoders: SourceConfig's.
// Throws UnavailableError.
void decode_on_device(AVCodecContext& context, int device = 0, bool new_decoders = false);

// Why the device that decodes for `context` can't go on: what an earlier call left it in. Empty: it works, none
// decodes, or this build has no CUDA to ask.
std::string why_device_is_lost(const AVCodecContext& context);

bool is_on_device(const AVFrame& frame);
AVPixelFormat sample_format(const AVFrame& frame);  // of the samples, wherever they lie

// In place, when it is on the device. Keeps everything but where the samples lie. Throws UnavailableError.
void copy_to_host(AVFrame& frame);

}  // namespace saccade
