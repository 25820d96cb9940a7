// Mip levels of the damaged tiles of a block: exact sums in registers and shuffles, rounded once per level.
//
// Levels of a quad come from its thread alone, the next two from shuffles among the tile's 16 lanes; the two coarser
// ones from the sums of all 16 tiles of the block: damaged tiles give new ones, the others those kept per tile.
#pragma once

#include "kernels/cuda/frame_source.cuh"
#include "kernels/cuda/kernel_params.h"
#include "kernels/cuda/quad.cuh"

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
  at.tile = thread >> 4;
  at.lane = thread & 15;
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

// Sums over the lanes `step_x` and `step_y` apart: channels of 8 bits travel two in a word (a tile's sum has 16 bits).
template <class Plane>
__device__ __forceinline__ void add_neighbours(std::uint32_t* sums, int step_x, int step_y) {
  constexpr bool kPaired = Plane::kBytes == 1 && Plane::kChannels > 1;
  if constexpr (kPaired) {
#pragma unroll
    for (int c = 0; c < Plane::kChannels; c += 2) {
      std::uint32_t pair = sums[c] | sums[c + 1] << 16;
      pair += __shfl_xor_sync(0xffffffffU, pair, step_x);
      pair += __shfl_xor_sync(0xffffffffU, pair, step_y);
      sums[c] = pair & 0xffffU;
      sums[c + 1] = pair >> 16;
    }
  } else {
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) {
      sums[c] += __shfl_xor_sync(0xffffffffU, sums[c], step_x);
      sums[c] += __shfl_xor_sync(0xffffffffU, sums[c], step_y);
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

// Levels 1 to kTileLevel of the warp's two tiles; called by whole warps, stores only where `damaged`.
// `sums` becomes the tile's sum per channel, in every lane.
template <class Plane>
__device__ __forceinline__ void tile_levels(const PlaneSurfaces& plane, const BlockPosition& at, bool damaged,
                                            const Quad<Plane>& quad, std::uint32_t* sums) {
  if constexpr (Plane::kSide == 4) {
    std::uint32_t quarter[4][Plane::kChannels];
#pragma unroll
    for (int q = 0; q < 4; ++q) sum_2x2<Plane>(quad, q % 2 * 2, q / 2 * 2, quarter[q]);
    if (damaged && plane.levels > 1) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        store_pair<Plane>(plane.level[1], at.qx * 2, at.qy * 2 + j, mean_texel<Plane>(quarter[2 * j], 1),
                          mean_texel<Plane>(quarter[2 * j + 1], 1));
      }
    }
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

template <TextureFormat F>
struct BlockQuads {
  Quad<typename FormatTraits<F>::Luma> luma;
  Quad<typename FormatTraits<F>::Chroma> chroma;
};

// Writes level 0 (when `write`) and the levels up to 6 (chroma 5) of the block's damaged tiles, whose new texels
// `quads` holds. old_sums: the tile's kept sums, in lane 0. Called by all threads of the block.
template <TextureFormat F>
__device__ __forceinline__ void apply_block(const TextureParams& texture, const BlockPosition& at, bool damaged,
                                            bool write, bool refresh, const BlockQuads<F>& quads, uint4 old_sums) {
  using Luma = typename FormatTraits<F>::Luma;
  using Chroma = typename FormatTraits<F>::Chroma;
  constexpr bool kHasChroma = FormatTraits<F>::kHasChroma;
  __shared__ uint4 tile_sums[kTilesPerBlock];
  if (damaged && write) {
    store_surface<Luma>(texture.plane[0].level[0], at.qx * Luma::kSide, at.qy * Luma::kSide, quads.luma);
    if constexpr (kHasChroma) {
      store_surface<Chroma>(texture.plane[1].level[0], at.qx * Chroma::kSide, at.qy * Chroma::kSide, quads.chroma);
    }
  }
  if (!refresh) return;
  uint4 sums = old_sums;
  if (__any_sync(0xffffffffU, damaged)) {
    std::uint32_t fresh[4] = {0, 0, 0, 0};
    tile_levels<Luma>(texture.plane[0], at, damaged, quads.luma, fresh);
    if constexpr (kHasChroma) tile_levels<Chroma>(texture.plane[1], at, damaged, quads.chroma, fresh + 1);
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

}  // namespace saccade::cuda
