// Comparing a strip of the frame with the texture: packed words, several samples an instruction.
#pragma once

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/launch/strip.cuh"

namespace saccade::cuda {

// Bits of the samples of word `word` that belong to the first `texels` texels of a row.
template <class Plane>
__device__ __forceinline__ std::uint32_t word_mask(int word, int texels) {
  constexpr int kBits = Plane::kTexelBytes * 8;
  constexpr int kPerWord = 32 / kBits;
  const int kept = texels - word * kPerWord;
  if (kept >= kPerWord) return 0xffffffffU;
  if (kept <= 0) return 0;
  return (1U << (kept * (kBits % 32))) - 1;
}

// |frame - texture| per sample; samples outside the image count as equal. at: the strip's first texel.
template <class Plane>
__device__ __forceinline__ void subtract(const PlaneSurfaces& shape, TexelPosition at, const Strip<Plane>& frame,
                                         const Strip<Plane>& texture, Strip<Plane>& difference) {
  const int columns_inside = at.y < shape.image_height ? shape.image_width - at.x : 0;
  const bool whole = columns_inside >= Strip<Plane>::kTexels;
#pragma unroll
  for (int k = 0; k < Strip<Plane>::kWords; ++k) {
    const std::uint32_t a = frame.word[k];
    const std::uint32_t b = texture.word[k];
    const std::uint32_t d = Plane::kBytes == 1 ? __vabsdiffu4(a, b) : __vabsdiffu2(a, b);
    difference.word[k] = whole ? d : d & word_mask<Plane>(k, columns_inside);
  }
}

template <class Plane>
__device__ __forceinline__ bool any_set(const Strip<Plane>& difference) {
  std::uint32_t any = 0;
#pragma unroll
  for (int k = 0; k < Strip<Plane>::kWords; ++k) any |= difference.word[k];
  return any != 0;
}

template <class Plane>
__device__ __forceinline__ std::uint32_t count_over(const Strip<Plane>& difference, std::uint32_t threshold) {
  const std::uint32_t limit = Plane::kBytes == 1 ? threshold * 0x01010101U : threshold * 0x00010001U;
  int bits = 0;
#pragma unroll
  for (int k = 0; k < Strip<Plane>::kWords; ++k) {
    const std::uint32_t d = difference.word[k];
    bits += __popc(Plane::kBytes == 1 ? __vcmpgtu4(d, limit) : __vcmpgtu2(d, limit));
  }
  return static_cast<std::uint32_t>(bits) / (8 * Plane::kBytes);
}

// Sum over the samples of max(difference - floor, 0).
template <class Plane>
__device__ __forceinline__ std::uint32_t energy_of(const Strip<Plane>& difference, std::uint32_t floor) {
  const std::uint32_t floors = Plane::kBytes == 1 ? floor * 0x01010101U : floor * 0x00010001U;
  std::uint32_t sum = 0;
#pragma unroll
  for (int k = 0; k < Strip<Plane>::kWords; ++k) {
    const std::uint32_t d = difference.word[k];
    if constexpr (Plane::kBytes == 1) {
      sum = __dp4a(__vsubus4(d, floors), 0x01010101U, sum);
    } else {
      const std::uint32_t over = __vsubus2(d, floors);
      sum += (over & 0xffffU) + (over >> 16);
    }
  }
  return sum;
}

// Over the 16 lanes of a tile; every lane gets the result.
__device__ __forceinline__ std::uint32_t tile_sum(std::uint32_t value) {
#pragma unroll
  for (int step = 1; step < kTileThreads; step <<= 1) value += __shfl_xor_sync(0xffffffffU, value, step * kLaneStep);
  return value;
}

}  // namespace saccade::cuda
