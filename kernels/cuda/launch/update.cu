// The fused update: diff against level 0, write, all levels of damaged tiles, in one launch. Without the writing half
// it is the staged diff.
#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/diff.cuh"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/launch/mips.cuh"

namespace saccade::cuda {
namespace {

template <PixelLayout L>
__device__ __forceinline__ void load_frame(const TextureParams& texture, const SourceParams& frame,
                                           const StripPositions& at, TileStrips<LayoutTraits<L>::kFormat>& strips) {
  using Format = FormatTraits<LayoutTraits<L>::kFormat>;
  using Luma = typename Format::Luma;
  using Chroma = typename Format::Chroma;
  load_strip<Luma, false>(frame, 0, 0, texture.plane[0], at.luma, {0, 0}, strips.luma);
  if constexpr (Format::kHasChroma) {
    load_strip<Chroma, LayoutTraits<L>::kPlanar>(frame, 1, 0, texture.plane[1], at.chroma, {0, 0}, strips.chroma);
  }
}

struct TileVerdict {
  bool damaged;
  std::uint32_t energy;
};

constexpr unsigned kTileLanes = 0x55555555U;  // of a warp's first tile

// Called by whole warps; all lanes of a tile get the same answer.
template <TextureFormat F>
__device__ __forceinline__ TileVerdict judge(const TextureParams& texture, const DiffParams& diff,
                                             const StripPositions& at, bool inside, const TileStrips<F>& frame,
                                             const TileStrips<F>& old) {
  using Luma = typename FormatTraits<F>::Luma;
  using Chroma = typename FormatTraits<F>::Chroma;
  constexpr bool kHasChroma = FormatTraits<F>::kHasChroma;
  if (diff.everything != 0) return {inside, 0};
  TileStrips<F> difference;
  subtract(texture.plane[0], at.luma, frame.luma, old.luma, difference.luma);
  if constexpr (kHasChroma) subtract(texture.plane[1], at.chroma, frame.chroma, old.chroma, difference.chroma);
  TileVerdict verdict{false, 0};
  if (diff.threshold == 0 && diff.min_samples == 0) {
    bool any = any_set<Luma>(difference.luma);
    if constexpr (kHasChroma) any |= any_set<Chroma>(difference.chroma);
    const unsigned lanes = __ballot_sync(0xffffffffU, any);
    verdict.damaged = inside && (lanes & (kTileLanes << (threadIdx.x % kLaneStep))) != 0;
  } else {
    std::uint32_t over = count_over<Luma>(difference.luma, diff.threshold);
    if constexpr (kHasChroma) over += count_over<Chroma>(difference.chroma, diff.threshold);
    over = tile_sum(over);  // by all lanes, padding tiles too: a shuffle waits for the whole warp
    verdict.damaged = inside && over > diff.min_samples;
  }
  if (__any_sync(0xffffffffU, verdict.damaged)) {
    verdict.energy = tile_sum(energy_of<Luma>(difference.luma, diff.noise_floor)) >> (Luma::kBytes == 2 ? 8 : 0);
  }
  return verdict;
}

// Padding tiles follow the image tile that they repeat, which is in the same block here.
__device__ __forceinline__ bool follow_source(const TextureParams& texture, const BlockPosition& at, bool inside,
                                              bool damaged) {
  const int last_x = texture.tile_cols - 1 - static_cast<int>(blockIdx.x) * 4;
  const int last_y = texture.tile_rows - 1 - static_cast<int>(blockIdx.y) * 4;
  if (last_x >= 3 && last_y >= 3) return damaged;
  __shared__ bool flags[kTilesPerBlock];
  if (at.lane == 0) flags[at.tile] = damaged;
  __syncthreads();
  return inside ? damaged : flags[min(at.tile >> 2, last_y) * 4 + min(at.tile & 3, last_x)];
}

// Blocks that must fit a multiprocessor at once. Measured on an H100 with NV12: 4 and 8 take a twentieth longer at
// 2160p; the wider formats hold more words a thread.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kMostBlocksPerSm = 4;  // of 1024 threads
#else
constexpr int kMostBlocksPerSm = 6;
#endif
template <PixelLayout L>
constexpr int kBlocksPerSm = LayoutTraits<L>::kFormat == TextureFormat::kYuv8 ? kMostBlocksPerSm : 3;

template <PixelLayout L, bool kWrite>
__global__ void __launch_bounds__(kBlockThreads, kBlocksPerSm<L>)
    update_kernel(const __grid_constant__ TextureParams texture, const __grid_constant__ SourceParams frame,
                  const __grid_constant__ DiffParams diff, std::uint32_t* __restrict__ tiles) {
  constexpr TextureFormat kFormat = LayoutTraits<L>::kFormat;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // the sampler may take its place; it waits for this grid's end
#endif
  const BlockPosition at = block_position();
  const bool inside = at.tx < texture.tile_cols && at.ty < texture.tile_rows;
  const StripPositions strip_at = strip_positions<kFormat>(at);
  TileStrips<kFormat> fresh;
  TileStrips<kFormat> old;
  load_frame<L>(texture, frame, strip_at, fresh);
  load_level_0(texture, strip_at, old);
  uint4 old_sums = make_uint4(0, 0, 0, 0);
  if (kWrite && at.lane == 0) {
    old_sums = reinterpret_cast<const uint4*>(texture.tile_sums)[at.ty * texture.padded_tile_cols + at.tx];
  }
  const TileVerdict verdict = judge<kFormat>(texture, diff, strip_at, inside, fresh, old);
  if (inside && at.lane == 0) {
    tiles[at.ty * texture.tile_cols + at.tx] = verdict.damaged ? kTileDamaged | verdict.energy : 0;
  }
  if constexpr (kWrite) {
    const bool damaged = follow_source(texture, at, inside, verdict.damaged);
    apply_block<kFormat>(texture, at, strip_at, damaged, true, true, fresh, old_sums);
  }
}

// A damaged tile's texels from wherever they are; see ApplyParams.
template <PixelLayout L, bool kPacked>
__device__ __forceinline__ void load_damaged(const TextureParams& texture, const SourceParams& source,
                                             const BlockPosition& at, const StripPositions& strip_at,
                                             std::uint32_t word, bool write,
                                             TileStrips<LayoutTraits<L>::kFormat>& strips) {
  using Format = FormatTraits<LayoutTraits<L>::kFormat>;
  using Luma = typename Format::Luma;
  using Chroma = typename Format::Chroma;
  if (!write) {
    load_level_0(texture, strip_at, strips);
  } else if constexpr (kPacked) {
    const long long offset = source.tile_stride * (word & ~kTileDamaged);
    load_packed_strip<Luma>(source, 0, offset, texture, at.tx, at.ty, strip_at.luma, strips.luma);
    if constexpr (Format::kHasChroma)
      load_packed_strip<Chroma>(source, 1, offset, texture, at.tx, at.ty, strip_at.chroma, strips.chroma);
  } else {
    load_frame<L>(texture, source, strip_at, strips);
  }
}

template <PixelLayout L, bool kPacked>
__global__ void __launch_bounds__(kBlockThreads)
    apply_kernel(const __grid_constant__ TextureParams texture, const __grid_constant__ SourceParams source,
                 const __grid_constant__ ApplyParams apply, bool only_padding) {
  if (only_padding && static_cast<int>(blockIdx.x) * 4 < texture.tile_cols &&
      static_cast<int>(blockIdx.y) * 4 < texture.tile_rows) {
    return;
  }
  const BlockPosition at = block_position();
  const int source_index = min(at.ty, texture.tile_rows - 1) * texture.tile_cols + min(at.tx, texture.tile_cols - 1);
  const std::uint32_t word = apply.tiles[source_index];
  const bool damaged = (word & kTileDamaged) != 0;
  if (__syncthreads_or(damaged) == 0) return;
  uint4 old_sums = make_uint4(0, 0, 0, 0);
  if (at.lane == 0)
    old_sums = reinterpret_cast<const uint4*>(texture.tile_sums)[at.ty * texture.padded_tile_cols + at.tx];
  const StripPositions strip_at = strip_positions<LayoutTraits<L>::kFormat>(at);
  TileStrips<LayoutTraits<L>::kFormat> strips{};
  if (damaged) load_damaged<L, kPacked>(texture, source, at, strip_at, word, apply.write, strips);
  apply_block<LayoutTraits<L>::kFormat>(texture, at, strip_at, damaged, apply.write, apply.refresh, strips, old_sums);
}

dim3 image_blocks(const TextureParams& texture) {
  return dim3(static_cast<unsigned>((texture.tile_cols + 3) / 4), static_cast<unsigned>((texture.tile_rows + 3) / 4));
}

dim3 padded_blocks(const TextureParams& texture) {
  return dim3(static_cast<unsigned>(texture.padded_tile_cols / 4), static_cast<unsigned>(texture.padded_tile_rows / 4));
}

template <PixelLayout L>
void apply(const TextureParams& texture, const SourceParams& source, const ApplyParams& params, bool only_padding,
           cudaStream_t stream) {
  if constexpr (!LayoutTraits<L>::kPlanar) {
    if (params.packed) {
      apply_kernel<L, true>
          <<<padded_blocks(texture), kBlockThreads, 0, stream>>>(texture, source, params, only_padding);
      cuda_check_launch("apply_kernel", stream);
      return;
    }
  }
  apply_kernel<L, false><<<padded_blocks(texture), kBlockThreads, 0, stream>>>(texture, source, params, only_padding);
  cuda_check_launch("apply_kernel", stream);
}

template <PixelLayout L>
void update(const TextureParams& texture, const SourceParams& frame, const DiffParams& diff, bool write,
            std::uint32_t* tiles, cudaStream_t stream) {
  const dim3 grid = image_blocks(texture);
  if (!write) {
    update_kernel<L, false><<<grid, kBlockThreads, 0, stream>>>(texture, frame, diff, tiles);
    cuda_check_launch("update_kernel", stream);
    return;
  }
  update_kernel<L, true><<<grid, kBlockThreads, 0, stream>>>(texture, frame, diff, tiles);
  cuda_check_launch("update_kernel", stream);
  const dim3 all = padded_blocks(texture);
  if (all.x != grid.x || all.y != grid.y) apply<L>(texture, frame, {.tiles = tiles}, true, stream);
  launch_coarse<LayoutTraits<L>::kFormat>(texture, stream);
}

// Calls f with the layout as a compile-time constant.
template <typename F>
void with_layout(PixelLayout layout, F&& f) {
  switch (layout) {
    case PixelLayout::kI420:
      return f.template operator()<PixelLayout::kI420>();
    case PixelLayout::kNv12:
      return f.template operator()<PixelLayout::kNv12>();
    case PixelLayout::kI420p16:
      return f.template operator()<PixelLayout::kI420p16>();
    case PixelLayout::kP016:
      return f.template operator()<PixelLayout::kP016>();
    case PixelLayout::kRgba8:
      return f.template operator()<PixelLayout::kRgba8>();
  }
}

}  // namespace

void launch_update(PixelLayout layout, const TextureParams& texture, const SourceParams& frame, const DiffParams& diff,
                   bool write, std::uint32_t* tiles, cudaStream_t stream) {
  with_layout(layout, [&]<PixelLayout L>() { update<L>(texture, frame, diff, write, tiles, stream); });
}

void launch_apply(PixelLayout layout, const TextureParams& texture, const SourceParams& source,
                  const ApplyParams& params, cudaStream_t stream) {
  with_layout(layout, [&]<PixelLayout L>() {
    apply<L>(texture, source, params, false, stream);
    if (params.refresh) launch_coarse<LayoutTraits<L>::kFormat>(texture, stream);
  });
}

}  // namespace saccade::cuda
