// Comparing a quad of the frame with the texture: packed words, several samples an instruction.
#pragma once

#include "kernels/cuda/kernel_params.h"
#include "kernels/cuda/quad.cuh"

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

// |frame - texture| per sample; samples outside the image count as equal.
template <class Plane>
__device__ __forceinline__ void subtract(const Quad<Plane>& frame, const Quad<Plane>& texture, int columns_inside,
                                         int rows_inside, Quad<Plane>& difference) {
  const bool whole = columns_inside >= Plane::kSide && rows_inside >= Plane::kSide;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) {
      const std::uint32_t a = frame.row[j][k];
      const std::uint32_t b = texture.row[j][k];
      const std::uint32_t d = Plane::kBytes == 1 ? __vabsdiffu4(a, b) : __vabsdiffu2(a, b);
      const std::uint32_t mask = whole ? 0xffffffffU : j < rows_inside ? word_mask<Plane>(k, columns_inside) : 0U;
      difference.row[j][k] = d & mask;
    }
  }
}

template <class Plane>
__device__ __forceinline__ bool any_set(const Quad<Plane>& difference) {
  std::uint32_t any = 0;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) any |= difference.row[j][k];
  }
  return any != 0;
}

template <class Plane>
__device__ __forceinline__ std::uint32_t count_over(const Quad<Plane>& difference, std::uint32_t threshold) {
  const std::uint32_t limit = Plane::kBytes == 1 ? threshold * 0x01010101U : threshold * 0x00010001U;
  int bits = 0;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) {
      const std::uint32_t d = difference.row[j][k];
      bits += __popc(Plane::kBytes == 1 ? __vcmpgtu4(d, limit) : __vcmpgtu2(d, limit));
    }
  }
  return static_cast<std::uint32_t>(bits) / (8 * Plane::kBytes);
}

// Sum over the samples of max(difference - floor, 0).
template <class Plane>
__device__ __forceinline__ std::uint32_t energy_of(const Quad<Plane>& difference, std::uint32_t floor) {
  const std::uint32_t floors = Plane::kBytes == 1 ? floor * 0x01010101U : floor * 0x00010001U;
  std::uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) {
      const std::uint32_t d = difference.row[j][k];
      if constexpr (Plane::kBytes == 1) {
        sum = __dp4a(__vsubus4(d, floors), 0x01010101U, sum);
      } else {
        const std::uint32_t over = __vsubus2(d, floors);
        sum += (over & 0xffffU) + (over >> 16);
      }
    }
  }
  return sum;
}

// Over the 16 lanes of a tile; every lane gets the result.
__device__ __forceinline__ std::uint32_t tile_sum(std::uint32_t value) {
#pragma unroll
  for (int step = 1; step < kTileThreads; step <<= 1) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

}  // namespace saccade::cuda
