// Rows of tiles of a frame beside those of a texture, whatever the strides: where they differ at all, and their pixels
// side by side.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/tensor/cpu/levels.h"
#include "kernels/tensor/cpu/tile_ops.h"

namespace saccade::tensor::cpu {

// Beyond the right edge another block is made, which has to fit into a part, too.
inline constexpr int kStripWidth = kPartWidth - kPartHeight;

template <class T>
const TileOps<T>& tile_ops() {
  static const TileOps<T> ops = std::get<TileOps<T>>(simd_tile_ops());
  return ops;
}

// Pixels x to x + width, y to y + height of an image; inside of it.
struct Rectangle {
  int x, y, width, height;
};

// The pixels of a rectangle, channel by channel, those of a row side by side.
template <class T>
struct Strip {
  const T* pixels;
  std::ptrdiff_t pitch, channel;  // elements to the next row, to the next channel

  const T* row(int c, int y) const { return pixels + c * channel + y * pitch; }
  Strip from(int x) const { return {pixels + x, pitch, channel}; }
};

// Whether pixels lie 2 to 4 elements apart, their channels side by side, as in most channels-last images.
inline bool is_interleaved(const ArrayView& image) {
  return (image.stride_c == 1 || image.channels == 1) && image.channels <= image.stride_x && image.stride_x >= 2 &&
         image.stride_x <= 4;
}

template <class T>
const T* row_of(const ArrayView& image, int b, int c, int y, int x) {
  return plane_of<const T>(image, std::int64_t{b} * image.channels + c) + y * image.stride_y + x * image.stride_x;
}

// Where they lie or, where pixels are not side by side, copied. `Use`: to whose memory.
template <class Use, class T>
Strip<T> strip_of(const ArrayView& image, int b, const Rectangle& at) {
  if (image.stride_x == 1) return {row_of<T>(image, b, 0, at.y, at.x), image.stride_y, image.stride_c};
  const std::ptrdiff_t channel = std::ptrdiff_t{at.width} * at.height;
  T* const copied = scratch<Use, T>(static_cast<std::size_t>(channel * image.channels));
  for (int y = 0; y < at.height; ++y) {
    T* const to = copied + y * std::ptrdiff_t{at.width};
    if (is_interleaved(image)) {
      T* rows[4] = {};
      for (int c = 0; c < image.channels; ++c) rows[c] = to + c * channel;
      tile_ops<T>().split(row_of<T>(image, b, 0, at.y + y, at.x), static_cast<int>(image.stride_x), image.channels,
                          static_cast<std::size_t>(at.width), rows);
      continue;
    }
    for (int c = 0; c < image.channels; ++c) {
      const T* from = row_of<T>(image, b, c, at.y + y, at.x);
      for (int x = 0; x < at.width; ++x) to[c * channel + x] = from[x * image.stride_x];
    }
  }
  return {copied, at.width, channel};
}

// Which tiles of a row, kStripWidth pixels of it at most, are not the frame's bit by bit.
template <class T>
class TileMarks {
 public:
  // Reads a row of tiles once, in the order of memory, as many rows at once as the processor fetches well.
  void mark(const ArrayView& texture, const ArrayView& frame, int b, const Rectangle& at) {
    std::memset(marks_, 0, static_cast<std::size_t>(tiles_across(at.width)) * kTileBytes);
    if (texture.stride_x != 1) return mark_anyhow(texture, frame, b, at);
    if (frame.stride_x == 1) return mark_rows(texture, frame, b, at);
    for (int y = at.y; y < at.y + at.height; ++y) {
      if (is_interleaved(frame)) {
        const T* is = row_of<T>(frame, b, 0, y, at.x);
        mark_apart(texture, b, 0, y, at.x, is, static_cast<int>(frame.stride_x), frame.channels, at.width, 0);
      } else {
        mark_packed(texture, frame, b, y, at);
      }
    }
  }

  // Of the tile `tile` of the row.
  bool any_in(int tile) const {
    std::uint64_t any = 0;
    for (std::size_t k = 0; k < kTileBytes; k += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, marks_ + static_cast<std::size_t>(tile) * kTileBytes + k, 8);
      any |= word;
    }
    return any != 0;
  }

 private:
  static constexpr std::size_t kTileBytes = kTilePx * sizeof(T);
  static constexpr int kPackedPixels = 256;

  // Up to four channels, or parts of the height where there are fewer.
  void mark_rows(const ArrayView& texture, const ArrayView& frame, int b, const Rectangle& at) {
    const int parts = frame.channels == 1 ? 4 : frame.channels == 2 ? 2 : 1;
    const int height = (at.height + parts - 1) / parts;
    for (int first = 0; first < frame.channels; first += 4) {
      const int channels = std::min(4, frame.channels - first);
      for (int y = 0; y < height; ++y) {
        const T* is[4] = {};
        const T* was[4] = {};
        int rows = 0;
        for (int k = 0; k < channels * parts; ++k) {
          const int row = y + k / channels * height;
          if (row >= at.height) break;
          is[rows] = row_of<T>(frame, b, first + k % channels, at.y + row, at.x);
          was[rows++] = row_of<T>(texture, b, first + k % channels, at.y + row, at.x);
        }
        tile_ops<T>().mark(is, was, rows, static_cast<std::size_t>(at.width), marks_);
      }
    }
  }

  // n pixels from x of row y on, of up to four channels that lie at `is`, against channels c.. of the texture.
  void mark_apart(const ArrayView& texture, int b, int c, int y, int x, const T* is, int stride, int channels, int n,
                  int first_mark) {
    const T* was[4] = {};
    for (int k = 0; k < channels; ++k) was[k] = row_of<T>(texture, b, c + k, y, x);
    tile_ops<T>().mark_apart(is, stride, channels, was, static_cast<std::size_t>(n),
                             marks_ + static_cast<std::size_t>(first_mark) * sizeof(T));
  }

  // Four channels at a time are copied together.
  void mark_packed(const ArrayView& texture, const ArrayView& frame, int b, int y, const Rectangle& at) {
    T packed[4 * kPackedPixels];
    for (int x = 0; x < at.width; x += kPackedPixels) {
      const int n = std::min(kPackedPixels, at.width - x);
      for (int c = 0; c < frame.channels; c += 4) {
        const int channels = std::min(4, frame.channels - c);
        const T* is = row_of<T>(frame, b, c, y, at.x + x);
        if (channels == 4 && frame.stride_c == 1) {
          for (int i = 0; i < n; ++i) std::memcpy(packed + 4 * i, is + i * frame.stride_x, 4 * sizeof(T));
        } else {
          for (int i = 0; i < n; ++i) {
            for (int k = 0; k < channels; ++k) packed[4 * i + k] = is[i * frame.stride_x + k * frame.stride_c];
          }
        }
        mark_apart(texture, b, c, y, at.x + x, packed, 4, channels, n, x);
      }
    }
  }

  void mark_anyhow(const ArrayView& texture, const ArrayView& frame, int b, const Rectangle& at) {
    for (int c = 0; c < frame.channels; ++c) {
      for (int y = at.y; y < at.y + at.height; ++y) {
        const T* is = row_of<T>(frame, b, c, y, at.x);
        const T* was = row_of<T>(texture, b, c, y, at.x);
        for (int x = 0; x < at.width; ++x) {
          const bool same = same_bits(is[x * frame.stride_x], was[x * texture.stride_x]);
          if (!same) marks_[static_cast<std::size_t>(x) * sizeof(T)] = 1;
        }
      }
    }
  }

  std::uint8_t marks_[kStripWidth * sizeof(T)];  // not 0: something differs in this column, one byte of it
};

}  // namespace saccade::tensor::cpu
