// NVDEC's decoders go from one video of this process to the next. Note [Kept decoders] in gpu/nvdec/decoder_cache.h.
#pragma once

#include <string>

#include "gpu/nvdec/decoder_use.h"

namespace saccade {

// Before this process opens its first decoder; any number of times. library: the path of gpu/nvcuvid's; most: how many
// decoders there are at most, used and idle; 0: none are kept, but decoders_of() still reports failures. Returns an
// empty string, or the reason why the library can't be used. FFmpeg then opens the driver's library as usual.
std::string keep_decoders(const std::string& library, int most);

// Where none are kept, nothing was used. stream: a cudaStream_t.
DecoderUse decoders_of(void* stream);
void forget_decoders_of(void* stream);  // before the stream is destroyed

// To be called where FFmpeg asks for the format (AVCodecContext::get_format): it makes the decoder next, on this
// thread. fresh: one that worked for no other stream.
void announce_decoder(void* stream, bool fresh);

bool drop_idle_decoders();  // the device is short of memory; false: there were none

}  // namespace saccade
