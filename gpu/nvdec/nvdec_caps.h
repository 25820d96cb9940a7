// What a device's video decoder takes, as its driver says.
#pragma once

#include <string>
#include <vector>

namespace saccade {

// 4:2:0 of one codec. Depths in bits, rising; sizes of the first depth, in coded pixels.
struct NvdecCodec {
  std::string name;  // FFmpeg's
  std::vector<int> depths;
  unsigned max_width = 0;
  unsigned max_height = 0;
};

struct NvdecStatus {
  std::vector<NvdecCodec> codecs;
  std::string error;  // why there is nothing to say; empty otherwise
};

// Loads the driver; never throws for a missing one. device: CUDA's ordinal. Any thread.
NvdecStatus query_nvdec(int device = 0);

}  // namespace saccade
