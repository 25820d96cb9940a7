// Sums over squares of texels, at every power of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/pyramid_layout.h"

namespace saccade {

// Of a picture of 8 x 8 texels a tile: level k has the sums of squares of 4 * 2^k texels, aligned to their side; beyond
// the picture there is nothing. Allocates in the constructor only.
class BlockSums {
 public:
  static constexpr int kQuarter = 4;      // texels along a square of level 0, a quarter of a tile
  static constexpr int kMostSide = 1024;  // so that a sum is an int

  explicit BlockSums(TileGrid grid);

  // Row y of level 0, two quarters a tile, to be written.
  int* quarters(std::size_t y) { return levels_[0].sums.data() + y * levels_[0].cols; }
  void note(std::size_t y) { levels_[0].changed[y] = 1; }  // that row y of level 0 was written
  void refresh();                                          // levels from 1 on, after note()

  // -1: there is none of such squares.
  int level_of(int side) const;
  // Row y of a level: a sum a square.
  const int* row(int level, std::size_t y) const {
    const Level& at = levels_[static_cast<std::size_t>(level)];
    return at.sums.data() + y * at.cols;
  }

 private:
  struct Level {
    std::size_t cols = 0, rows = 0;
    std::vector<int> sums;
    std::vector<std::uint8_t> changed;  // of each row
  };
  std::vector<Level> levels_;
};

}  // namespace saccade
