// A texel in 8 bits, whatever the texture's format.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/frame_view.h"
#include "kernels/shared/held.h"

namespace saccade {

// bytes: of the code, 1 or 2.
inline int code_of(const std::uint8_t* sample, int bytes) {
  if (bytes == 1) return *sample;
  std::uint16_t code = 0;
  std::memcpy(&code, sample, 2);
  return shared::code_of_wide(code);
}

// texel: of plane 0.
inline int luma_of(const std::uint8_t* texel, TextureFormat format) {
  if (format == TextureFormat::kRgba8) return shared::luma_of_rgb(texel[0], texel[1], texel[2]);
  return code_of(texel, format == TextureFormat::kYuv16 ? 2 : 1);
}

}  // namespace saccade
