// Sums over boxes of tiles, in whole numbers: the same everywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pyramid_layout.h"

namespace saccade {

// A summed-area table of values that are rounded to 1/1024, halves up. Allocates in the constructor only.
class TileSums {
 public:
  explicit TileSums(TileGrid grid)
      : grid_(grid), sums_(static_cast<std::size_t>(grid.cols + 1) * static_cast<std::size_t>(grid.rows + 1)) {}

  // As std::llround(value * 1024) for 0 <= value < 2^20, without a call: no float below a half becomes one in double.
  static std::int32_t rounded(float value) {
    return static_cast<std::int32_t>(static_cast<double>(value * 1024.0f) + 0.5);
  }

  // tiles: row-major, each of 0 .. 2^20.
  void sum_up(std::span<const float> tiles) {
    const auto cols = static_cast<std::size_t>(grid_.cols);
    for (int y = 0; y < grid_.rows; ++y) {
      const float* const values = tiles.data() + static_cast<std::size_t>(y) * cols;
      const std::int64_t* const above = row(y);
      std::int64_t* const sums = sums_.data() + (static_cast<std::size_t>(y) + 1) * (cols + 1);
      std::int64_t sum = 0;
      for (std::size_t x = 0; x < cols; ++x) {
        sum += rounded(values[x]);
        sums[x + 1] = above[x + 1] + sum;
      }
    }
  }

  // Of tiles [left, right) x [top, bottom), as far as they are there.
  std::int64_t box(int left, int top, int right, int bottom) const {
    const std::int64_t *const upper = row(top), *const lower = row(bottom);
    const int first = std::clamp(left, 0, grid_.cols), past = std::clamp(right, 0, grid_.cols);
    return lower[past] - upper[past] - lower[first] + upper[first];
  }

 private:
  const std::int64_t* row(int y) const {
    return sums_.data() +
           static_cast<std::size_t>(std::clamp(y, 0, grid_.rows)) * (static_cast<std::size_t>(grid_.cols) + 1);
  }

  TileGrid grid_;
  std::vector<std::int64_t> sums_;
};

}  // namespace saccade
