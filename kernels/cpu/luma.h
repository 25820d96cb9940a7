// Luma of a texel in 8 bits, whatever the texture's format.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/frame_view.h"

namespace saccade {

// texel: of plane 0. Of R'G'B' a quarter, a half and a quarter; of 16 bits the upper 8.
inline int luma_of(const std::uint8_t* texel, TextureFormat format) {
  if (format == TextureFormat::kRgba8) return (texel[0] + 2 * texel[1] + texel[2] + 2) / 4;
  if (format == TextureFormat::kYuv8) return *texel;
  std::uint16_t code = 0;
  std::memcpy(&code, texel, 2);
  return code >> 8;
}

}  // namespace saccade
