// NVDEC through FFmpeg's CUDA hwaccel, and frames that lie on the card. FFmpeg loads the driver: nothing is linked.
#pragma once

#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace saccade {

// Why nothing can be decoded on a card here; empty when it can: there is a driver and a card.
std::string why_no_cuda_decoding();

// The codecs for which this FFmpeg has such a path, by name. Which of them a card takes depends on the card.
std::vector<std::string> cuda_codecs();

// Null: FFmpeg has no such path for this codec.
const AVCodec* find_cuda_decoder(AVCodecID id);

// Before the codec is opened. Frames the card can't decode come out on the host all the same. In the device's primary
// context, which CUDA's runtime shares, and in its default stream. Throws UnavailableError.
void decode_on_card(AVCodecContext& context);

// Why the card can't go on: what an earlier call left it in. Empty: it works, or this build has no CUDA to ask.
std::string why_card_is_lost();

bool is_on_card(const AVFrame& frame);
AVPixelFormat sample_format(const AVFrame& frame);  // of the samples, wherever they lie

// In place, when it is on the card. Keeps everything but where the samples lie. Throws UnavailableError.
void copy_to_host(AVFrame& frame);

}  // namespace saccade
