// NVDEC's decoders go from one video of this process to the next. Note [Kept decoders] in gpu/nvdec/decoder_cache.h.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

// What came of the decoders that worked for one CUDA stream: see gpu/nvdec/decoder_cache.h.
struct DecodersOfStream {
  bool used = false;
  bool erred = false;
  std::int64_t failed_shown = 0;
};

// Before this process opens its first decoder; any number of times. library: the path of gpu/nvcuvid's; most: how many
// decoders there are at most, used and idle; 0: none are kept, but decoders_of() tells what failed. Empty, or why that
// can't be: all goes on as without.
std::string keep_decoders(const std::string& library, int most);

// Where none are kept, nothing was used. stream: a cudaStream_t.
DecodersOfStream decoders_of(void* stream);
void forget_decoders_of(void* stream);  // before the stream is destroyed

// To be called where FFmpeg asks for the format (AVCodecContext::get_format): it makes the decoder next, on this
// thread. fresh: one that worked for no other stream.
void announce_decoder(void* stream, bool fresh);

bool drop_idle_decoders();  // the device is short of memory; false: there were none

}  // namespace saccade
