// What one thread holds of a plane, as packed words, and how it is compared, summed and written.
//
//   block of 256 threads = 64x64 luma texels = 4x4 tiles     16 neighbouring lanes = one tile (16x16 luma, 8x8 chroma)
//   +----+----+----+----+  warp 0: tiles 0, 1                lane & 3: the quad's column, (lane >> 2) & 3: its row
//   |  0 |  1 |  2 |  3 |  warp 1: tiles 2, 3                a quad: 4x4 luma (or RGBA) texels and the 2x2 chroma
//   +----+----+----+----+  ...                               texels under them
#pragma once

#include <cstdint>

namespace saccade::cuda {

inline constexpr int kBlockThreads = 256;
inline constexpr int kTileThreads = 16;
inline constexpr int kTilesPerBlock = 16;

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

template <int Words>
__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t* words) {
  if constexpr (Words == 1) {
    words[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  } else if constexpr (Words == 2) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
    words[0] = v.x, words[1] = v.y;
  } else {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  }
}

template <class Plane>
__device__ __forceinline__ void load_surface(cudaSurfaceObject_t surface, int x, int y, Quad<Plane>& quad) {
  const int x_bytes = x * Plane::kTexelBytes;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
    std::uint32_t* words = quad.row[j];
    if constexpr (Plane::kWords == 1) {
      words[0] = surf2Dread<unsigned>(surface, x_bytes, y + j);
    } else if constexpr (Plane::kWords == 2) {
      const uint2 v = surf2Dread<uint2>(surface, x_bytes, y + j);
      words[0] = v.x, words[1] = v.y;
    } else {
      const uint4 v = surf2Dread<uint4>(surface, x_bytes, y + j);
      words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    }
  }
}

template <class Plane>
__device__ __forceinline__ void store_surface(cudaSurfaceObject_t surface, int x, int y, const Quad<Plane>& quad) {
  const int x_bytes = x * Plane::kTexelBytes;
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
    const std::uint32_t* words = quad.row[j];
    if constexpr (Plane::kWords == 1) {
      surf2Dwrite(words[0], surface, x_bytes, y + j);
    } else if constexpr (Plane::kWords == 2) {
      surf2Dwrite(make_uint2(words[0], words[1]), surface, x_bytes, y + j);
    } else {
      surf2Dwrite(make_uint4(words[0], words[1], words[2], words[3]), surface, x_bytes, y + j);
    }
  }
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

// Two texels side by side.
template <class Plane>
__device__ __forceinline__ void store_pair(cudaSurfaceObject_t surface, int x, int y, std::uint32_t left,
                                           std::uint32_t right) {
  const int x_bytes = x * Plane::kTexelBytes;
  if constexpr (Plane::kTexelBytes == 1) {
    surf2Dwrite(static_cast<unsigned short>(left | right << 8), surface, x_bytes, y);
  } else if constexpr (Plane::kTexelBytes == 2) {
    surf2Dwrite(left | right << 16, surface, x_bytes, y);
  } else {
    surf2Dwrite(make_uint2(left, right), surface, x_bytes, y);
  }
}

}  // namespace saccade::cuda
