// Loads of quads from frames and packed tiles: chroma interleaved, samples aligned to the top, edges repeated.
#pragma once

#include "kernels/cuda/kernel_params.h"
#include "kernels/cuda/quad.cuh"
#include "kernels/frame_view.h"

namespace saccade::cuda {

template <PixelLayout L>
struct LayoutTraits {
  static constexpr bool kRgba = L == PixelLayout::kRgba8;
  static constexpr bool kWide = L == PixelLayout::kI420p16 || L == PixelLayout::kP016;
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

// A quad at texel (x, y), all inside the image, by whole words. plane: index of the source's first plane.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_fast(const SourceParams& source, int plane, long long offset, int x, int y,
                                          Quad<Plane>& quad) {
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
    if constexpr (kTwoPlanes) {
      const int x_bytes = x * Plane::kBytes;
      const std::uint8_t* a = source.plane[plane] + (y + j) * source.pitch[plane] + x_bytes;
      const std::uint8_t* b = source.plane[plane + 1] + (y + j) * source.pitch[plane + 1] + x_bytes;
      if constexpr (Plane::kBytes == 1) {
        const std::uint32_t cb = __ldg(reinterpret_cast<const unsigned short*>(a));
        const std::uint32_t cr = __ldg(reinterpret_cast<const unsigned short*>(b));
        quad.row[j][0] = __byte_perm(cb, cr, 0x5140);
      } else {
        const std::uint32_t cb = __ldg(reinterpret_cast<const unsigned*>(a));
        const std::uint32_t cr = __ldg(reinterpret_cast<const unsigned*>(b));
        quad.row[j][0] = __byte_perm(cb, cr, 0x5410);
        quad.row[j][1] = __byte_perm(cb, cr, 0x7632);
      }
    } else {
      load_words<Plane::kWords>(source.plane[plane] + offset + (y + j) * source.pitch[plane] + x * Plane::kTexelBytes,
                                quad.row[j]);
    }
    if constexpr (Plane::kBytes == 2) {
#pragma unroll
      for (int k = 0; k < Plane::kWords; ++k) quad.row[j][k] = align_pair(quad.row[j][k], source.shift);
    }
  }
}

// The same sample by sample; coordinates beyond `last` repeat the edge. (x0, y0): the source's own origin.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_clamped(const SourceParams& source, int plane, long long offset, int x, int y,
                                             int x0, int y0, int x_last, int y_last, Quad<Plane>& quad) {
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
    const int row = min(y + j, y_last) - y0;
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) quad.row[j][k] = 0;
#pragma unroll
    for (int i = 0; i < Plane::kSide; ++i) {
      const int column = min(x + i, x_last) - x0;
#pragma unroll
      for (int c = 0; c < Plane::kChannels; ++c) {
        const int from = kTwoPlanes ? plane + c : plane;
        const int x_bytes = kTwoPlanes ? column * Plane::kBytes : column * Plane::kTexelBytes + c * Plane::kBytes;
        const std::uint8_t* at = source.plane[from] + offset + row * source.pitch[from] + x_bytes;
        put_sample<Plane>(quad.row[j], i, c, load_sample<Plane::kBytes>(at, source.shift));
      }
    }
  }
}

// Quad (qx, qy) of a frame.
template <class Plane, bool kTwoPlanes>
__device__ __forceinline__ void load_quad(const SourceParams& frame, int plane, const PlaneSurfaces& shape, int qx,
                                          int qy, Quad<Plane>& quad) {
  const int x = qx * Plane::kSide;
  const int y = qy * Plane::kSide;
  if (frame.vectors != 0 && x + Plane::kSide <= shape.image_width && y + Plane::kSide <= shape.image_height) {
    load_fast<Plane, kTwoPlanes>(frame, plane, 0, x, y, quad);
  } else {
    load_clamped<Plane, kTwoPlanes>(frame, plane, 0, x, y, 0, 0, shape.image_width - 1, shape.image_height - 1, quad);
  }
}

// Quad (qx, qy) from the packed image tile that it lies in or repeats; `offset`: of that tile.
template <class Plane>
__device__ __forceinline__ void load_packed_quad(const SourceParams& packed, int plane, long long offset,
                                                 const TextureParams& texture, int qx, int qy, Quad<Plane>& quad) {
  const PlaneSurfaces& shape = texture.plane[plane];
  const int x = qx * Plane::kSide;
  const int y = qy * Plane::kSide;
  const int x0 = min(qx / 4, texture.tile_cols - 1) * Plane::kTileSide;
  const int y0 = min(qy / 4, texture.tile_rows - 1) * Plane::kTileSide;
  if (x + Plane::kSide <= shape.image_width && y + Plane::kSide <= shape.image_height) {
    load_fast<Plane, false>(packed, plane, offset, x - x0, y - y0, quad);
  } else {
    load_clamped<Plane, false>(packed, plane, offset, x, y, x0, y0, shape.image_width - 1, shape.image_height - 1,
                               quad);
  }
}

}  // namespace saccade::cuda
