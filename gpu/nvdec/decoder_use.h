#pragma once

#include <cstdint>

namespace saccade {

// What happened to the NVDEC decoders that worked for one CUDA stream.
// Note [Kept decoders] in gpu/nvdec/decoder_cache.h.
struct DecoderUse {
  bool used = false;              // one of them had worked for another stream before
  bool erred = false;             // a picture was not decoded whole, or NVDEC could not say
  std::int64_t failed_shown = 0;  // pictures that were shown and not decoded whole
};

}  // namespace saccade
