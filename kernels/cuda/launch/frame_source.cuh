// Loads of strips from frames and packed tiles: chroma interleaved, samples aligned to the top, edges repeated.
#pragma once

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/launch/strip.cuh"
#include "kernels/frame_view.h"

namespace saccade::cuda {

template <PixelLayout L>
struct LayoutTraits {
  static constexpr bool kRgba = L == PixelLayout::kRgba8;
  static constexpr bool kPlanar = L == PixelLayout::kI420 || L == PixelLayout::kI420p16;
  static constexpr TextureFormat kFormat = texture_format(L);
};

template <TextureFormat F>
struct FormatTraits;
template <>
struct FormatTraits<TextureFormat::kYuv8> {
  using Luma = Luma8;
  using Chroma = Chroma8;
  static constexpr bool kHasChroma = true;
};
template <>
struct FormatTraits<TextureFormat::kYuv16> {
  using Luma = Luma16;
  using Chroma = Chroma16;
  static constexpr bool kHasChroma = true;
};
template <>
struct FormatTraits<TextureFormat::kRgba8> {
  using Luma = Rgba8;
  using Chroma = Chroma8;  // never touched
  static constexpr bool kHasChroma = false;
};

// Two 16-bit samples at once, as a 16-bit shift would.
__device__ __forceinline__ std::uint32_t align_pair(std::uint32_t pair, int shift) {
  const std::uint32_t kept = 0xffffU >> shift;
  return (pair & (kept | kept << 16)) << shift;
}

template <int Bytes>
__device__ __forceinline__ std::uint32_t load_sample(const std::uint8_t* from, int shift) {
  if constexpr (Bytes == 1) {
    return __ldg(from);
  } else {
    // Bytewise: the pitch of a frame may be odd.
    const std::uint32_t value = __ldg(from) | static_cast<std::uint32_t>(__ldg(from + 1)) << 8;
    return (value << shift) & 0xffffU;
  }
}

// `whole`: `from` is aligned to as many words as there are, 4 at most; otherwise to one.
template <int Words>
__device__ __forceinline__ void load_words(const std::uint8_t* from, bool whole, std::uint32_t* words) {
  if (!whole || Words == 1) {
#pragma unroll
    for (int k = 0; k < Words; ++k) words[k] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + k);
  } else if constexpr (Words == 2) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    words[0] = v.x, words[1] = v.y;
  } else {
#pragma unroll
    for (int k = 0; k < Words; k += 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from) + k / 4);
      words[k] = v.x, words[k + 1] = v.y, words[k + 2] = v.z, words[k + 3] = v.w;
    }
  }
}

// Of Cb and Cr, `Words` words each: their samples in turn.
template <class Plane, int Words>
__device__ __forceinline__ void interleave(const std::uint32_t* cb, const std::uint32_t* cr, std::uint32_t* words) {
#pragma unroll
  for (int k = 0; k < Words; ++k) {
    words[2 * k] = __byte_perm(cb[k], cr[k], Plane::kBytes == 1 ? 0x5140 : 0x5410);
    words[2 * k + 1] = __byte_perm(cb[k], cr[k], Plane::kBytes == 1 ? 0x7362 : 0x7632);
  }
}

// The strip whose first texel is (x, y) of the source; all its columns are there. plane: index of the source's first.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_fast(const SourceParams& source, int plane, long long offset, int x, int y,
                                          Strip<Plane>& strip) {
  constexpr int kWords = Strip<Plane>::kWords;
  const bool whole = source.alignment >= kStripAlignment;
  if constexpr (kTwoPlanes) {
    std::uint32_t part[2][kWords / 2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      load_words<kWords / 2>(source.plane[plane + c] + y * source.pitch[plane + c] + x * Plane::kBytes, whole, part[c]);
    }
    interleave<Plane, kWords / 2>(part[0], part[1], strip.word);
  } else {
    load_words<kWords>(source.plane[plane] + offset + y * source.pitch[plane] + x * Plane::kTexelBytes, whole,
                       strip.word);
  }
  if constexpr (Plane::kBytes == 2) {
#pragma unroll
    for (int k = 0; k < kWords; ++k) strip.word[k] = align_pair(strip.word[k], source.shift);
  }
}

// The same sample by sample; columns beyond x_last, in the source's coordinates, repeat it.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_clamped(const SourceParams& source, int plane, long long offset, int x, int y,
                                             int x_last, Strip<Plane>& strip) {
#pragma unroll
  for (int k = 0; k < Strip<Plane>::kWords; ++k) strip.word[k] = 0;
#pragma unroll
  for (int i = 0; i < Strip<Plane>::kTexels; ++i) {
    const int column = min(x + i, x_last);
#pragma unroll
    for (int c = 0; c < Plane::kChannels; ++c) {
      const int from = kTwoPlanes ? plane + c : plane;
      const int x_bytes = kTwoPlanes ? column * Plane::kBytes : column * Plane::kTexelBytes + c * Plane::kBytes;
      const std::uint8_t* at = source.plane[from] + offset + y * source.pitch[from] + x_bytes;
      put_sample<Plane>(strip.word, i, c, load_sample<Plane::kBytes>(at, source.shift));
    }
  }
}

// The strip at texel `at` of a plane of `shape`, whose texel `origin` is the source's first; edges are repeated.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_strip(const SourceParams& source, int plane, long long offset,
                                           const PlaneSurfaces& shape, TexelPosition at, TexelPosition origin,
                                           Strip<Plane>& strip) {
  const int x = at.x - origin.x;
  const int y = min(at.y, shape.image_height - 1) - origin.y;
  if (source.alignment >= kWordAlignment && at.x + Strip<Plane>::kTexels <= shape.image_width) {
    load_fast<Plane, kTwoPlanes>(source, plane, offset, x, y, strip);
  } else {
    load_clamped<Plane, kTwoPlanes>(source, plane, offset, x, y, shape.image_width - 1 - origin.x, strip);
  }
}

// From the packed image tile that the texture's tile (tx, ty) is or repeats; `offset`: of that tile.
template <class Plane>
__device__ __forceinline__ void load_packed_strip(const SourceParams& packed, int plane, long long offset,
                                                  const TextureParams& texture, int tx, int ty, TexelPosition at,
                                                  Strip<Plane>& strip) {
  const TexelPosition origin{min(tx, texture.tile_cols - 1) * Plane::kTileSide,
                             min(ty, texture.tile_rows - 1) * Plane::kTileSide};
  load_strip<Plane, false>(packed, plane, offset, texture.plane[plane], at, origin, strip);
}

}  // namespace saccade::cuda
