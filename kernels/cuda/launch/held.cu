// The held picture on the device: writes what was sent and forgotten, and works out the errors of blocks of which a
// tile changes, in one launch.
//
//   a lane has one row of a tile, 16 texels of luma in 4 words; a tile has every second lane of a warp, as in strip.cuh
//   a block has 32 tiles, one after the other in the grid's order. If one changes, all are worked out: errors of single
//   tiles take half as long again to reach the host as whole lines of 128 bytes
#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/diff.cuh"
#include "kernels/cuda/launch/frame_source.cuh"
#include "kernels/cuda/launch/launch.h"
#include "kernels/held_picture.h"
#include "kernels/shared/held.h"

namespace saccade::cuda {
namespace {

constexpr int kTiles = 32;  // of a block
constexpr int kThreads = kTiles * kTileThreads;

// Luma of 16 texels, left to right from the lowest byte.
struct Row {
  std::uint32_t word[4];
};

template <int kBytes>
__device__ __forceinline__ void load_bytes(cudaSurfaceObject_t surface, int x_bytes, int y, std::uint32_t* words) {
  if constexpr (kBytes >= 16) {
#pragma unroll
    for (int k = 0; k < kBytes / 4; k += 4) {
      const uint4 v = surf2Dread<uint4>(surface, x_bytes + 4 * k, y);
      words[k] = v.x, words[k + 1] = v.y, words[k + 2] = v.z, words[k + 3] = v.w;
    }
  } else if constexpr (kBytes == 8) {
    const uint2 v = surf2Dread<uint2>(surface, x_bytes, y);
    words[0] = v.x, words[1] = v.y;
  } else if constexpr (kBytes == 4) {
    words[0] = surf2Dread<unsigned>(surface, x_bytes, y);
  } else if constexpr (kBytes == 2) {
    words[0] = surf2Dread<unsigned short>(surface, x_bytes, y);
  } else {
    words[0] = surf2Dread<unsigned char>(surface, x_bytes, y);
  }
}

template <class Plane>
__device__ __forceinline__ std::uint32_t luma_of(const std::uint32_t* words, int texel) {
  if constexpr (Plane::kChannels == 4) {
    const auto code = [&](int channel) { return static_cast<int>(sample_of<Plane>(words, texel, channel)); };
    return static_cast<std::uint32_t>(shared::luma_of_rgb(code(0), code(1), code(2)));
  } else if constexpr (Plane::kBytes == 2) {
    return static_cast<std::uint32_t>(shared::code_of_wide(static_cast<int>(sample_of<Plane>(words, texel, 0))));
  } else {
    return sample_of<Plane>(words, texel, 0);
  }
}

// The byte selectors that repeat texels of level kLevel, in word `word` of an enlarged row.
template <int kLevel>
__device__ __forceinline__ unsigned enlarging(int word) {
  unsigned selector = 0;
#pragma unroll
  for (int byte = 0; byte < 4; ++byte) selector |= static_cast<unsigned>(((4 * word + byte) >> kLevel) % 4) << 4 * byte;
  return selector;
}

// The row at level-0 texel (x, y), first of a tile's row, as texels of level kLevel show it.
template <class Plane, int kLevel>
__device__ __forceinline__ Row load_row(const PlaneSurfaces& plane, int x, int y) {
  constexpr int kTexels = kTilePx >> kLevel;
  constexpr int kBytes = kTexels * Plane::kTexelBytes;
  std::uint32_t words[(kBytes + 3) / 4];
  load_bytes<kBytes>(plane.level[kLevel], (x >> kLevel) * Plane::kTexelBytes, y >> kLevel, words);
  std::uint32_t luma[(kTexels + 3) / 4] = {};
#pragma unroll
  for (int texel = 0; texel < kTexels; ++texel) luma[texel / 4] |= luma_of<Plane>(words, texel) << texel % 4 * 8;
  Row row;
#pragma unroll
  for (int k = 0; k < 4; ++k) row.word[k] = __byte_perm(luma[(4 * k >> kLevel) / 4], 0, enlarging<kLevel>(k));
  return row;
}

// columns: that lie in the image. noise: four times, a byte each.
template <int kPower>
__device__ __forceinline__ std::uint32_t row_error(const Row& now, const Row& shown, int columns, std::uint32_t noise) {
  std::uint32_t sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t all = __vabsdiffu4(now.word[k], shown.word[k]);
    const std::uint32_t over = all & __vcmpgtu4(all, noise) & word_mask<Luma8>(k, columns);
    if constexpr (kPower == 2) {
      sum = __dp4a(over, over, sum);
    } else {
#pragma unroll
      for (int shift = 0; shift < 32; shift += 8) {
        const std::uint32_t difference = (over >> shift) & 0xffU;
        sum += difference * difference * difference;
      }
    }
  }
  return sum;
}

// The chroma of a tile, Cr in the upper byte.
template <TextureFormat F>
__device__ __forceinline__ std::uint32_t chroma_of(const PlaneSurfaces& plane, int tile_x, int tile_y) {
  using Traits = FormatTraits<F>;
  using Plane = std::conditional_t<Traits::kHasChroma, typename Traits::Chroma, typename Traits::Luma>;
  constexpr int kTexels = Traits::kHasChroma ? kTilePx / 2 : kTilePx;
  constexpr int kCodes = Traits::kHasChroma ? 2 : 3;
  const int level = shared::chroma_level(kTexels, plane.levels), side = kTexels >> level;
  int sums[3] = {};
  for (int n = 0; n < side * side; ++n) {
    std::uint32_t word[1];
    const int x = tile_x * side + n % side, y = tile_y * side + n / side;
    load_bytes<Plane::kTexelBytes>(plane.level[level], x * Plane::kTexelBytes, y, word);
#pragma unroll
    for (int c = 0; c < kCodes; ++c) {
      const int code = static_cast<int>(sample_of<Plane>(word, 0, c));
      sums[c] += Plane::kBytes == 2 ? shared::code_of_wide(code) : code;
    }
  }
  for (int& sum : sums) sum = shared::mean_of_codes(sum, side * side);
  if constexpr (!Traits::kHasChroma) {
    const int luma = shared::luma_of_rgb(sums[0], sums[1], sums[2]), red = sums[0];
    sums[0] = shared::chroma_of_rgb(sums[2], luma);
    sums[1] = shared::chroma_of_rgb(red, luma);
  }
  return static_cast<std::uint32_t>(sums[0] | sums[1] << 8);
}

struct TilePlace {
  int index, lane;
  int x, y;  // the lane's row: its first texel of level 0
  int change;
};

__device__ __forceinline__ TilePlace place_of(const HeldParams& params, int in_block) {
  TilePlace at;
  at.index = static_cast<int>(blockIdx.x) * kTiles + in_block;
  at.lane = static_cast<int>(threadIdx.x) % 32 / kLaneStep;
  at.x = at.index % params.tile_cols * kTilePx;
  at.y = at.index / params.tile_cols * kTilePx + at.lane;
  at.change = shared::kTileStays;
  if (at.index >= params.tile_count) return at;
  at.change = params.changes[at.index];
  const bool changed = (params.changed[at.index / 32] >> at.index % 32 & 1U) != 0;
  if (at.change == shared::kTileStays && changed) at.change = shared::kTileChanged;
  return at;
}

// Levels kLevel and up: their errors, and the row of the one that was sent.
template <class Plane, int kPower, int kLevel>
__device__ __forceinline__ void compare_levels(const HeldParams& params, const TilePlace& at, int columns,
                                               const Row& now, Row& held, std::uint32_t (&errors)[kSquareLevels]) {
  if constexpr (kLevel < kSquareLevels) {
    if (kLevel >= params.levels) return;
    const Row shown = load_row<Plane, kLevel>(params.plane, at.x, at.y);
    errors[kLevel] = row_error<kPower>(now, shown, columns, params.noise);
    if (at.change == shared::kTileSent + kLevel) held = shown;
    compare_levels<Plane, kPower, kLevel + 1>(params, at, columns, now, held, errors);
  }
}

template <class Plane, int kPower>
__device__ __forceinline__ void change_row(const HeldParams& params, const TilePlace& at,
                                           std::uint32_t (&errors)[kSquareLevels]) {
  constexpr std::uint32_t kGrey = shared::kGreyLuma * 0x01010101U;
  const int columns = at.y < params.plane.image_height ? params.plane.image_width - at.x : 0;
  const Row now = load_row<Plane, 0>(params.plane, at.x, at.y);
  auto* const memory = reinterpret_cast<uint4*>(params.held + static_cast<std::ptrdiff_t>(at.y) * params.pitch + at.x);
  Row held;
  if (at.change == shared::kTileChanged) {
    const uint4 v = *memory;
    held = {{v.x, v.y, v.z, v.w}};
  } else {
    held = at.change == shared::kTileForgotten ? Row{{kGrey, kGrey, kGrey, kGrey}} : now;
  }
  compare_levels<Plane, kPower, 1>(params, at, columns, now, held, errors);
  errors[0] = row_error<kPower>(now, held, columns, params.noise);
  if (at.change != shared::kTileChanged) {
    *memory = make_uint4(held.word[0], held.word[1], held.word[2], held.word[3]);
  }
}

// By one lane of a tile: what its chroma adds to the error held.
template <TextureFormat F, int kPower>
__device__ __forceinline__ std::uint32_t change_chroma(const HeldParams& params, const TilePlace& at) {
  constexpr std::uint32_t kGrey = shared::kGreyChroma * 0x0101U;
  const std::uint32_t now = chroma_of<F>(params.chroma, at.x / kTilePx, at.y / kTilePx);
  std::uint16_t& memory = params.held_chroma[at.index];
  const bool keeps = at.change == shared::kTileChanged;
  const std::uint32_t held = keeps ? memory : at.change == shared::kTileForgotten ? kGrey : now;
  if (!keeps) memory = static_cast<std::uint16_t>(held);
  const auto byte = [](std::uint32_t codes, int n) { return static_cast<int>(codes >> 8 * n & 0xffU); };
  return shared::chroma_error(byte(now, 0), byte(held, 0), byte(now, 1), byte(held, 1), kPower,
                              static_cast<int>(params.noise & 0xffU));
}

template <TextureFormat F, int kPower>
__global__ void __launch_bounds__(kThreads) held_kernel(const __grid_constant__ HeldParams params) {
  __shared__ std::uint32_t sums[kSquareLevels][kTiles];
  const int thread = static_cast<int>(threadIdx.x);
  const int in_block = thread / 32 * 2 + thread % kLaneStep;
  TilePlace at = place_of(params, in_block);
  if (__syncthreads_or(at.change != shared::kTileStays) == 0) return;
  std::uint32_t errors[kSquareLevels] = {}, of_chroma = 0;
  if (at.index < params.tile_count) {
    if (at.change == shared::kTileStays) at.change = shared::kTileChanged;
    if (at.lane == 0 && params.held_chroma != nullptr) of_chroma = change_chroma<F, kPower>(params, at);
    change_row<typename FormatTraits<F>::Luma, kPower>(params, at, errors);
  }
#pragma unroll
  for (int level = 0; level < kSquareLevels; ++level) {
    const std::uint32_t sum = tile_sum(errors[level]);
    if (at.lane == 0) sums[level][in_block] = level == 0 ? shared::add_errors(sum, of_chroma) : sum;
  }
  __syncthreads();
  const int level = thread / kTiles, tile = static_cast<int>(blockIdx.x) * kTiles + thread % kTiles;
  if (level >= params.levels || tile >= params.tile_count) return;
  params.errors[level * params.tile_count + tile] = sums[level][thread % kTiles];
}

template <TextureFormat F>
void launch(const HeldParams& params, int power, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((params.tile_count + kTiles - 1) / kTiles);
  const auto kernel = power == 3 ? held_kernel<F, 3> : held_kernel<F, 2>;
  kernel<<<blocks, kThreads, 0, stream>>>(params);
  cuda_check_launch("held_kernel", stream);
}

}  // namespace

void launch_held(TextureFormat format, const HeldParams& params, int power, cudaStream_t stream) {
  switch (format) {
    case TextureFormat::kYuv8:
      return launch<TextureFormat::kYuv8>(params, power, stream);
    case TextureFormat::kYuv16:
      return launch<TextureFormat::kYuv16>(params, power, stream);
    case TextureFormat::kRgba8:
      return launch<TextureFormat::kRgba8>(params, power, stream);
  }
}

}  // namespace saccade::cuda
