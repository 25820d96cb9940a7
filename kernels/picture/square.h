// Squares of the picture, each of which one patch shows, and how far the receiver's picture is from the frame.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/pyramid_layout.h"

namespace saccade {

// kTilePx << level level-0 pixels a side, aligned to that side; its patch has 16 x 16 texels of this level.
struct Square {
  int level = 0;
  int x = 0, y = 0;  // column and row among the squares of this level
  bool operator==(const Square&) const = default;
};

// Levels of squares, at most: a tile's texels of these levels depend on that tile alone.
inline constexpr int kSquareLevels = 5;

// How far one picture is from another: a difference of d codes of 8-bit luma counts as d^power, one of at most `noise`
// codes as nothing.
struct ErrorMeasure {
  int power = 3;  // 2 or 3
  int noise = 8;
  bool operator==(const ErrorMeasure&) const = default;
};

// Of each tile of the image, row-major: the sum of its pixels' errors.
struct TileErrors {
  std::span<const std::uint32_t> held;  // of what the receiver holds
  // [l - 1]: what would be left if it held the texels of level l. Level 0 leaves nothing.
  std::array<std::span<const std::uint32_t>, kSquareLevels - 1> means;
};

}  // namespace saccade
