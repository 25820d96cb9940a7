// Luma of a texel in 8 bits, whatever the texture's format.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/frame_view.h"
#include "kernels/shared/held.h"

namespace saccade {

// texel: of plane 0.
inline int luma_of(const std::uint8_t* texel, TextureFormat format) {
  if (format == TextureFormat::kRgba8) return shared::luma_of_rgb(texel[0], texel[1], texel[2]);
  if (format == TextureFormat::kYuv8) return *texel;
  std::uint16_t code = 0;
  std::memcpy(&code, texel, 2);
  return shared::luma_of_wide(code);
}

}  // namespace saccade
