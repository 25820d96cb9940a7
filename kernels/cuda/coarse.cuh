// Levels above 6 (chroma 5): few texels, each the mean of many tiles. A block per texel sums the tiles' kept sums.
#pragma once

#include "gpu/cuda/error.h"
#include "kernels/cuda/kernel_params.h"
#include "kernels/cuda/levels.cuh"

namespace saccade::cuda {

inline constexpr int kCoarseThreads = 64;
inline constexpr int kCoarseLevel = 7;  // the first of luma; chroma's is one finer

// `square`: tiles per axis under a texel.
template <class Plane>
__device__ __forceinline__ void coarse_texel(const TextureParams& texture, const PlaneSurfaces& plane, int level,
                                             int square, int x, int y, int first_word) {
  unsigned long long sums[Plane::kChannels] = {};
  for (int i = static_cast<int>(threadIdx.x); i < square * square; i += kCoarseThreads) {
    const long long tile =
        static_cast<long long>(y * square + i / square) * texture.padded_tile_cols + x * square + i % square;
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) sums[c] += texture.tile_sums[tile * 4 + first_word + c];
  }
  __shared__ unsigned long long partial[kCoarseThreads];
  std::uint32_t packed = 0;
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) {
    partial[threadIdx.x] = sums[c];
    __syncthreads();
    for (int half = kCoarseThreads / 2; half > 0; half /= 2) {
      if (static_cast<int>(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
      __syncthreads();
    }
    const unsigned long long mean = (partial[0] + (1ULL << (2 * level - 1))) >> (2 * level);
    packed |= static_cast<std::uint32_t>(mean) << (8 * Plane::kBytes * c);
    __syncthreads();
  }
  if (threadIdx.x == 0) store_texel<Plane>(plane.level[level], x, y, packed);
}

// Grid: one block per texel of every level from kCoarseLevel on, level after level.
template <TextureFormat F>
__global__ void __launch_bounds__(kCoarseThreads) coarse_kernel(const __grid_constant__ TextureParams texture) {
  int texel = static_cast<int>(blockIdx.x);
  int level = kCoarseLevel;
  int square = 8;
  for (;; ++level, square *= 2) {
    const int count = (texture.padded_tile_cols / square) * (texture.padded_tile_rows / square);
    if (texel < count) break;
    texel -= count;
  }
  const int cols = texture.padded_tile_cols / square;
  coarse_texel<typename FormatTraits<F>::Luma>(texture, texture.plane[0], level, square, texel % cols, texel / cols, 0);
  if constexpr (FormatTraits<F>::kHasChroma) {
    coarse_texel<typename FormatTraits<F>::Chroma>(texture, texture.plane[1], level - 1, square, texel % cols,
                                                   texel / cols, 1);
  }
}

template <TextureFormat F>
void launch_coarse(const TextureParams& texture, cudaStream_t stream) {
  int texels = 0;
  for (int level = kCoarseLevel, square = 8; level < texture.plane[0].levels; ++level, square *= 2) {
    texels += (texture.padded_tile_cols / square) * (texture.padded_tile_rows / square);
  }
  if (texels == 0) return;
  coarse_kernel<F><<<static_cast<unsigned>(texels), kCoarseThreads, 0, stream>>>(texture);
  cuda_check_launch("coarse_kernel", stream);
}

}  // namespace saccade::cuda
