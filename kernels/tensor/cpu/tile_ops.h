// The pixel work of updates as a table of functions for each type of elements: simd_tile_ops() gives the bits of
// plain_tile_ops(), which reads like the definition. No operation allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "kernels/tensor/element.h"
#include "kernels/tensor/update.h"

namespace saccade::tensor::cpu {

// How a tile differs, summed over its channels one after the other.
template <class T>
struct TileSums {
  Value<T> quads[16] = {};  // of 4 x 4 pixels: the sum of |differences|, row by row
  int over = 0;             // samples that differ by more than the threshold
};

// A channel of a tile, 16 columns of it.
template <class T>
struct TileChannel {
  const T* pixels;
  std::ptrdiff_t pitch;  // elements
};

template <class T>
struct TileOps {
  // marks |= is ^ was, as bytes: n elements of each of 1 to 4 rows, all into one row of marks.
  void (*mark)(const T* const* is, const T* const* was, int rows, std::size_t n, std::uint8_t* marks);
  // The same of one row whose pixels lie `stride` elements apart (2 to 4), their channels side by side, against a row
  // of each channel. channels <= stride.
  void (*mark_apart)(const T* is, int stride, int channels, const T* const* was, std::size_t n, std::uint8_t* marks);
  // Such a row, each channel by itself.
  void (*split)(const T* in, int stride, int channels, std::size_t n, T* const* out);
  // Adds what a channel differs by to `sums`. What is equal in memory does not differ. Of bytes at most
  // kMostExactChannels are added: the vectors' sums are whole numbers.
  void (*compare)(const TileChannel<T>& is, const TileChannel<T>& was, int rows, Value<T> threshold, TileSums<T>* sums);
};

inline constexpr int kMostExactChannels = (1 << 24) / (16 * 255);

using AllTileOps = std::tuple<TileOps<std::uint8_t>, TileOps<std::uint16_t>, TileOps<Half>, TileOps<Bfloat>,
                              TileOps<float>, TileOps<double>>;

namespace plain {

template <class T>
void mark_element(const T& is, const T& was, std::uint8_t* marks) {
  std::uint8_t bytes[2][sizeof(T)];
  std::memcpy(bytes[0], &is, sizeof(T));
  std::memcpy(bytes[1], &was, sizeof(T));
  for (std::size_t k = 0; k < sizeof(T); ++k)
    marks[k] = static_cast<std::uint8_t>(marks[k] | (bytes[0][k] ^ bytes[1][k]));
}

template <class T>
void mark(const T* const* is, const T* const* was, int rows, std::size_t n, std::uint8_t* marks) {
  for (int row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < n; ++i) mark_element(is[row][i], was[row][i], marks + i * sizeof(T));
  }
}

template <class T>
void mark_apart(const T* is, int stride, int channels, const T* const* was, std::size_t n, std::uint8_t* marks) {
  for (std::size_t i = 0; i < n; ++i, is += stride) {
    for (int c = 0; c < channels; ++c) mark_element(is[c], was[c][i], marks + i * sizeof(T));
  }
}

template <class T>
void split(const T* in, int stride, int channels, std::size_t n, T* const* out) {
  for (std::size_t i = 0; i < n; ++i, in += stride) {
    for (int c = 0; c < channels; ++c) out[c][i] = in[c];
  }
}

template <class T>
void compare(const TileChannel<T>& is, const TileChannel<T>& was, int rows, Value<T> threshold, TileSums<T>* sums) {
  using V = Value<T>;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < kTilePx; ++x) {
      const T now = is.pixels[y * is.pitch + x];
      const T before = was.pixels[y * was.pitch + x];
      if (same_bits(now, before)) continue;
      const V difference = load(now) - load(before);
      const V size = difference < V(0) ? -difference : difference;
      sums->quads[y / 4 * 4 + x / 4] += size;
      if (!(size <= threshold)) ++sums->over;
    }
  }
}

}  // namespace plain

template <class T>
TileOps<T> plain_tile_ops() {
  return {plain::mark<T>, plain::mark_apart<T>, plain::split<T>, plain::compare<T>};
}

// For the best instruction set of this machine (or of hwy::SetSupportedTargetsForTest, read at each call).
AllTileOps simd_tile_ops();

}  // namespace saccade::tensor::cpu
