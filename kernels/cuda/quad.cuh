// How texels lie in a thread's words, and which of a block's threads has which.
//
//   block of 256 threads = 64x64 luma texels = 4x4 tiles     a tile (16x16 luma, 8x8 chroma): every second lane of a
//   +----+----+----+----+  warp 0: tiles 0, 1                warp; lanes are counted in the tile, 0 to 15
//   |  0 |  1 |  2 |  3 |  warp 1: tiles 2, 3                a quad: 4x4 luma (or RGBA) texels and the 2x2 chroma
//   +----+----+----+----+  ...                               texels under them, in column lane & 3, row lane >> 2
#pragma once

#include <cstdint>

namespace saccade::cuda {

inline constexpr int kBlockThreads = 256;
inline constexpr int kTileThreads = 16;
inline constexpr int kTilesPerBlock = 16;
inline constexpr int kLaneStep = 2;  // from a tile's lane to its next

// Side: texels of the quad per axis. Samples lie in 32-bit words, texel after texel, channels interleaved.
template <int Channels, int Bytes, int Side>
struct PlaneTraits {
  static constexpr int kChannels = Channels;
  static constexpr int kBytes = Bytes;
  static constexpr int kSide = Side;
  static constexpr int kTexelBytes = Channels * Bytes;
  static constexpr int kWords = Side * kTexelBytes / 4;  // of one row
  static constexpr int kTileSide = 4 * Side;             // texels of a tile
  static constexpr int kQuadLevel = Side == 4 ? 2 : 1;   // the level at which a quad is one texel
  static constexpr int kTileLevel = kQuadLevel + 2;      // the level at which a tile is one texel
};

using Luma8 = PlaneTraits<1, 1, 4>;
using Luma16 = PlaneTraits<1, 2, 4>;
using Rgba8 = PlaneTraits<4, 1, 4>;
using Chroma8 = PlaneTraits<2, 1, 2>;
using Chroma16 = PlaneTraits<2, 2, 2>;

template <class Plane>
struct Quad {
  std::uint32_t row[Plane::kSide][Plane::kWords];
};

// Sample `channel` of texel `x` in a row of words.
template <class Plane>
__device__ __forceinline__ std::uint32_t sample_of(const std::uint32_t* row, int x, int channel) {
  const int byte = (x * Plane::kChannels + channel) * Plane::kBytes;
  return (row[byte / 4] >> (byte % 4 * 8)) & (Plane::kBytes == 1 ? 0xffU : 0xffffU);
}

template <class Plane>
__device__ __forceinline__ void put_sample(std::uint32_t* row, int x, int channel, std::uint32_t value) {
  const int byte = (x * Plane::kChannels + channel) * Plane::kBytes;
  row[byte / 4] |= value << (byte % 4 * 8);
}

// One texel, its samples packed from the lowest bits on.
template <class Plane>
__device__ __forceinline__ void store_texel(cudaSurfaceObject_t surface, int x, int y, std::uint32_t packed) {
  const int x_bytes = x * Plane::kTexelBytes;
  if constexpr (Plane::kTexelBytes == 1) {
    surf2Dwrite(static_cast<unsigned char>(packed), surface, x_bytes, y);
  } else if constexpr (Plane::kTexelBytes == 2) {
    surf2Dwrite(static_cast<unsigned short>(packed), surface, x_bytes, y);
  } else {
    surf2Dwrite(packed, surface, x_bytes, y);
  }
}

}  // namespace saccade::cuda
