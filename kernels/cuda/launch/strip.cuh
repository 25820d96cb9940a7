// How texels lie in a thread's words, which of a block's threads has which, and what a thread reads, compares and
// writes of level 0: a strip, its share of a tile as it lies in memory.
//
//   block of 256 threads = 64x64 luma texels = 4x4 tiles     a tile (16x16 luma, 8x8 chroma): every second lane of a
//   +----+----+----+----+  warp 0: tiles 0, 1                warp; lanes are counted in the tile, 0 to 15
//   |  0 |  1 |  2 |  3 |  warp 1: tiles 2, 3                a quad: 4x4 luma (or RGBA) texels and the 2x2 chroma
//   +----+----+----+----+  ...                               texels under them, in column lane & 3, row lane >> 2
//
//   luma, RGBA: strip i of a tile is its row i          chroma: strip i is half a row
//   +----------------+ 0                                +---+---+
//   +----------------+ 1                                | 0 | 2 |
//   +----------------+ 2                                | 1 | 3 |
//   +----------------+ 3                                | 4 | 6 |
//   ...                                                 ...
//
// Neighbouring lanes belong to tiles side by side, the next ones to the rows below: 8 lanes of 16 bytes fill whole
// sectors of 32 bytes both of a frame's rows (32 x 1 bytes) and of a CUDA array (16 x 2 bytes).
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

// Its texels, left to right, in kSide groups as wide as a quad.
template <class Plane>
struct Strip {
  static constexpr int kTexels = Plane::kSide * Plane::kSide;
  static constexpr int kWords = Plane::kSide * Plane::kWords;
  std::uint32_t word[kWords];
};

struct TexelPosition {
  int x, y;
};

// Where lane `lane` of tile (tx, ty) has its strip.
template <class Plane>
__device__ __forceinline__ TexelPosition strip_position(int tx, int ty, int lane) {
  constexpr int kSide = Plane::kSide;
  const int column = (lane & 3) / kSide;
  const int row = (lane >> 2) * kSide + (lane & (kSide - 1));
  return {tx * Plane::kTileSide + column * Strip<Plane>::kTexels, ty * Plane::kTileSide + row};
}

template <class Plane>
__device__ __forceinline__ void load_surface(cudaSurfaceObject_t surface, TexelPosition at, Strip<Plane>& strip) {
  const int x_bytes = at.x * Plane::kTexelBytes;
  if constexpr (Strip<Plane>::kWords == 2) {
    const uint2 v = surf2Dread<uint2>(surface, x_bytes, at.y);
    strip.word[0] = v.x, strip.word[1] = v.y;
  } else {
#pragma unroll
    for (int k = 0; k < Strip<Plane>::kWords; k += 4) {
      const uint4 v = surf2Dread<uint4>(surface, x_bytes + 4 * k, at.y);
      strip.word[k] = v.x, strip.word[k + 1] = v.y, strip.word[k + 2] = v.z, strip.word[k + 3] = v.w;
    }
  }
}

template <class Plane>
__device__ __forceinline__ void store_surface(cudaSurfaceObject_t surface, TexelPosition at,
                                              const Strip<Plane>& strip) {
  const int x_bytes = at.x * Plane::kTexelBytes;
  const std::uint32_t* word = strip.word;
  if constexpr (Strip<Plane>::kWords == 2) {
    surf2Dwrite(make_uint2(word[0], word[1]), surface, x_bytes, at.y);
  } else {
#pragma unroll
    for (int k = 0; k < Strip<Plane>::kWords; k += 4) {
      surf2Dwrite(make_uint4(word[k], word[k + 1], word[k + 2], word[k + 3]), surface, x_bytes + 4 * k, at.y);
    }
  }
}

// The lane's quad, by transposing the strips of kSide lanes. Called by whole warps.
template <class Plane>
__device__ __forceinline__ void to_quad(const Strip<Plane>& strip, int lane, Quad<Plane>& quad) {
#pragma unroll
  for (int j = 0; j < Plane::kSide; ++j) {
#pragma unroll
    for (int k = 0; k < Plane::kWords; ++k) quad.row[j][k] = strip.word[j * Plane::kWords + k];
  }
#pragma unroll
  for (int step = 1; step < Plane::kSide; step *= 2) {
    const bool upper = (lane & step) == 0;
#pragma unroll
    for (int j = 0; j < Plane::kSide; ++j) {
      if ((j & step) != 0) continue;
#pragma unroll
      for (int k = 0; k < Plane::kWords; ++k) {
        std::uint32_t& right = quad.row[j + step][k];
        std::uint32_t& left = quad.row[j][k];
        const std::uint32_t got = __shfl_xor_sync(0xffffffffU, upper ? right : left, step * kLaneStep);
        right = upper ? got : right;
        left = upper ? left : got;
      }
    }
  }
}

}  // namespace saccade::cuda
