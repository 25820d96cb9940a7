// Mip levels of the damaged tiles of a block: exact sums in registers and shuffles, rounded once per level.
//
// Levels of a quad come from its thread alone, the next two from shuffles among the tile's 16 lanes; the two coarser
// ones from the sums of all 16 tiles of the block: damaged tiles give new ones, the others those kept per tile.
#pragma once

#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/frame_source.cuh"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/launch/strip.cuh"

namespace saccade::cuda {

// Where a thread stands. Tiles are counted over the padded texture.
struct BlockPosition {
  int tile;  // 0..15, row-major in the block
  int lane;  // 0..15 in the tile
  int tx, ty;
  int qx, qy;  // quad, counted over the padded texture
};

__device__ __forceinline__ BlockPosition block_position() {
  BlockPosition at;
  const int thread = static_cast<int>(threadIdx.x);
  at.tile = (thread >> 5) * 2 + thread % kLaneStep;
  at.lane = (thread & 31) / kLaneStep;
  at.tx = static_cast<int>(blockIdx.x) * 4 + (at.tile & 3);
  at.ty = static_cast<int>(blockIdx.y) * 4 + (at.tile >> 2);
  at.qx = at.tx * 4 + (at.lane & 3);
  at.qy = at.ty * 4 + (at.lane >> 2);
  return at;
}

// (sum of 4^level texels + half) >> 2 level, per channel, packed as one texel.
template <class Plane>
__device__ __forceinline__ std::uint32_t mean_texel(const std::uint32_t* sums, int level) {
  std::uint32_t packed = 0;
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) {
    packed |= ((sums[c] + (1U << (2 * level - 1))) >> (2 * level)) << (8 * Plane::kBytes * c);
  }
  return packed;
}

// Sums over the tile's lanes `step_x` and `step_y` apart: channels of 8 bits travel two in a word (a tile's
// sum has 16 bits).
template <class Plane>
__device__ __forceinline__ void add_neighbours(std::uint32_t* sums, int step_x, int step_y) {
  constexpr bool kPaired = Plane::kBytes == 1 && Plane::kChannels > 1;
  if constexpr (kPaired) {
#pragma unroll
    for (int c = 0; c < Plane::kChannels; c += 2) {
      std::uint32_t pair = sums[c] | sums[c + 1] << 16;
      pair += __shfl_xor_sync(0xffffffffU, pair, step_x * kLaneStep);
      pair += __shfl_xor_sync(0xffffffffU, pair, step_y * kLaneStep);
      sums[c] = pair & 0xffffU;
      sums[c + 1] = pair >> 16;
    }
  } else {
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) {
      sums[c] += __shfl_xor_sync(0xffffffffU, sums[c], step_x * kLaneStep);
      sums[c] += __shfl_xor_sync(0xffffffffU, sums[c], step_y * kLaneStep);
    }
  }
}

template <class Plane>
__device__ __forceinline__ void sum_2x2(const Quad<Plane>& quad, int x, int y, std::uint32_t* sums) {
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) {
    sums[c] = sample_of<Plane>(quad.row[y], x, c) + sample_of<Plane>(quad.row[y], x + 1, c) +
              sample_of<Plane>(quad.row[y + 1], x, c) + sample_of<Plane>(quad.row[y + 1], x + 1, c);
  }
}

// A quad's 2x2 texels of level 1. Lanes side by side change rows, so that each writes four texels of one. Called by
// whole warps.
template <class Plane>
__device__ __forceinline__ void store_level_1(cudaSurfaceObject_t surface, const BlockPosition& at, bool damaged,
                                              const std::uint32_t (&quarter)[4][Plane::kChannels]) {
  constexpr int kBits = 8 * Plane::kTexelBytes;
  constexpr int kWords = kBits == 32 ? 2 : 1;  // of two texels
  std::uint32_t row[2][kWords];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const std::uint32_t left = mean_texel<Plane>(quarter[2 * j], 1);
    const std::uint32_t right = mean_texel<Plane>(quarter[2 * j + 1], 1);
    if constexpr (kWords == 1) {
      row[j][0] = left | right << kBits;
    } else {
      row[j][0] = left, row[j][1] = right;
    }
  }
  const bool first = (at.lane & 1) == 0;
  std::uint32_t left[kWords];
  std::uint32_t right[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const std::uint32_t got = __shfl_xor_sync(0xffffffffU, first ? row[1][k] : row[0][k], kLaneStep);
    left[k] = first ? row[0][k] : got;
    right[k] = first ? got : row[1][k];
  }
  if (!damaged) return;
  const int x_bytes = (at.qx & ~1) * 2 * Plane::kTexelBytes;
  const int y = at.qy * 2 + (at.lane & 1);
  if constexpr (kBits == 8) {
    surf2Dwrite(left[0] | right[0] << 16, surface, x_bytes, y);
  } else if constexpr (kBits == 16) {
    surf2Dwrite(make_uint2(left[0], right[0]), surface, x_bytes, y);
  } else {
    surf2Dwrite(make_uint4(left[0], left[1], right[0], right[1]), surface, x_bytes, y);
  }
}

// Levels 1 to kTileLevel of the warp's two tiles; called by whole warps, stores only where `damaged`.
// `sums` becomes the tile's sum per channel, in every lane.
template <class Plane>
__device__ __forceinline__ void tile_levels(const PlaneSurfaces& plane, const BlockPosition& at, bool damaged,
                                            const Quad<Plane>& quad, std::uint32_t* sums) {
  if constexpr (Plane::kSide == 4) {
    std::uint32_t quarter[4][Plane::kChannels];
#pragma unroll
    for (int q = 0; q < 4; ++q) sum_2x2<Plane>(quad, q % 2 * 2, q / 2 * 2, quarter[q]);
    if (plane.levels > 1) store_level_1<Plane>(plane.level[1], at, damaged, quarter);
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) sums[c] = quarter[0][c] + quarter[1][c] + quarter[2][c] + quarter[3][c];
  } else {
    sum_2x2<Plane>(quad, 0, 0, sums);
  }
  constexpr int kFirst = Plane::kQuadLevel;
  if (damaged && plane.levels > kFirst)
    store_texel<Plane>(plane.level[kFirst], at.qx, at.qy, mean_texel<Plane>(sums, kFirst));
  add_neighbours<Plane>(sums, 1, 4);
  if (damaged && plane.levels > kFirst + 1 && (at.lane & 5) == 0) {
    store_texel<Plane>(plane.level[kFirst + 1], at.qx >> 1, at.qy >> 1, mean_texel<Plane>(sums, kFirst + 1));
  }
  add_neighbours<Plane>(sums, 2, 8);
  if (damaged && plane.levels > kFirst + 2 && at.lane == 0) {
    store_texel<Plane>(plane.level[kFirst + 2], at.tx, at.ty, mean_texel<Plane>(sums, kFirst + 2));
  }
}

// The two levels coarser than a tile, by lanes 0 to 15 of one warp, one per tile of the block. `sums`: that tile's.
template <class Plane>
__device__ __forceinline__ void block_levels(const PlaneSurfaces& plane, int tile, int block_x, int block_y,
                                             std::uint32_t* sums) {
  constexpr int kLevel = Plane::kTileLevel + 1;
#pragma unroll
  for (int step = 0; step < 2; ++step) {
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) {
      sums[c] += __shfl_xor_sync(0xffffU, sums[c], 1 << step);
      sums[c] += __shfl_xor_sync(0xffffU, sums[c], 4 << step);
    }
    const bool first = step == 0 ? (tile & 5) == 0 : tile == 0;
    if (!first || plane.levels <= kLevel + step) continue;
    const int x = step == 0 ? block_x * 2 + (tile & 3) / 2 : block_x;
    const int y = step == 0 ? block_y * 2 + tile / 8 : block_y;
    store_texel<Plane>(plane.level[kLevel + step], x, y, mean_texel<Plane>(sums, kLevel + step));
  }
}

// A thread's texels of level 0.
template <TextureFormat F>
struct TileStrips {
  Strip<typename FormatTraits<F>::Luma> luma;
  Strip<typename FormatTraits<F>::Chroma> chroma;
};

struct StripPositions {
  TexelPosition luma, chroma;
};

template <TextureFormat F>
__device__ __forceinline__ StripPositions strip_positions(const BlockPosition& at) {
  return {strip_position<typename FormatTraits<F>::Luma>(at.tx, at.ty, at.lane),
          strip_position<typename FormatTraits<F>::Chroma>(at.tx, at.ty, at.lane)};
}

template <TextureFormat F>
__device__ __forceinline__ void load_level_0(const TextureParams& texture, const StripPositions& at,
                                             TileStrips<F>& strips) {
  load_surface(texture.plane[0].level[0], at.luma, strips.luma);
  if constexpr (FormatTraits<F>::kHasChroma) load_surface(texture.plane[1].level[0], at.chroma, strips.chroma);
}

template <TextureFormat F>
__device__ __forceinline__ void store_level_0(const TextureParams& texture, const StripPositions& at,
                                              const TileStrips<F>& strips) {
  store_surface(texture.plane[0].level[0], at.luma, strips.luma);
  if constexpr (FormatTraits<F>::kHasChroma) store_surface(texture.plane[1].level[0], at.chroma, strips.chroma);
}

template <class Plane>
__device__ __forceinline__ void levels_of_strips(const PlaneSurfaces& plane, const BlockPosition& at, bool damaged,
                                                 const Strip<Plane>& strip, std::uint32_t* sums) {
  Quad<Plane> quad;
  to_quad(strip, at.lane, quad);
  tile_levels<Plane>(plane, at, damaged, quad, sums);
}

// Writes level 0 (when `write`) and the levels up to 6 (chroma 5) of the block's damaged tiles, whose new texels
// `strips` holds. old_sums: the tile's kept sums, in lane 0. Called by all threads of the block.
template <TextureFormat F>
__device__ __forceinline__ void apply_block(const TextureParams& texture, const BlockPosition& at,
                                            const StripPositions& strip_at, bool damaged, bool write, bool refresh,
                                            const TileStrips<F>& strips, uint4 old_sums) {
  using Luma = typename FormatTraits<F>::Luma;
  using Chroma = typename FormatTraits<F>::Chroma;
  constexpr bool kHasChroma = FormatTraits<F>::kHasChroma;
  __shared__ uint4 tile_sums[kTilesPerBlock];
  if (damaged && write) store_level_0(texture, strip_at, strips);
  if (!refresh) return;
  uint4 sums = old_sums;
  if (__any_sync(0xffffffffU, damaged)) {
    std::uint32_t fresh[4] = {0, 0, 0, 0};
    levels_of_strips(texture.plane[0], at, damaged, strips.luma, fresh);
    if constexpr (kHasChroma) levels_of_strips(texture.plane[1], at, damaged, strips.chroma, fresh + 1);
    if (damaged) sums = make_uint4(fresh[0], fresh[1], fresh[2], fresh[3]);
    if (damaged && at.lane == 0) {
      reinterpret_cast<uint4*>(texture.tile_sums)[at.ty * texture.padded_tile_cols + at.tx] = sums;
    }
  }
  if (at.lane == 0) tile_sums[at.tile] = sums;
  if (__syncthreads_or(damaged) == 0 || threadIdx.x >= kTilesPerBlock) return;
  const int tile = static_cast<int>(threadIdx.x);
  const uint4 mine = tile_sums[tile];
  std::uint32_t all[4] = {mine.x, mine.y, mine.z, mine.w};
  block_levels<Luma>(texture.plane[0], tile, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), all);
  if constexpr (kHasChroma) {
    block_levels<Chroma>(texture.plane[1], tile, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), all + 1);
  }
}

// Levels above 6 (chroma 5): few texels, each the mean of many tiles. A block per texel sums the tiles' kept sums.
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
