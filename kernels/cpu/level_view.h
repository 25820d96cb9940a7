// A borrowed look at one level of one plane in host memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pyramid_layout.h"

namespace saccade {

// What a texel is made of. Each kind has its own mip and sampling code.
enum class TexelKind : std::uint8_t { k8x1, k8x2, k8x4, k16x1, k16x2 };
inline constexpr int kTexelKinds = 5;

constexpr TexelKind texel_kind(const PlaneLayout& plane) {
  if (plane.bytes_per_channel == 2) return plane.channels == 1 ? TexelKind::k16x1 : TexelKind::k16x2;
  return plane.channels == 1 ? TexelKind::k8x1 : plane.channels == 2 ? TexelKind::k8x2 : TexelKind::k8x4;
}

// Rows are 64-byte aligned; at least 64 bytes after the last row may be read (their values are unspecified).
struct LevelView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;  // positive
  int width = 0;                   // texels, padded
  int height = 0;
  const std::uint8_t* row(int y) const { return data + y * pitch_bytes; }
};

}  // namespace saccade
