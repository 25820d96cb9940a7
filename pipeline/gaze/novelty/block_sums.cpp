#include "pipeline/gaze/novelty/block_sums.h"

#include <algorithm>
#include <bit>

namespace saccade {

BlockSums::BlockSums(TileGrid grid) {
  std::size_t cols = 2 * static_cast<std::size_t>(grid.cols), rows = 2 * static_cast<std::size_t>(grid.rows);
  for (int side = kQuarter; side <= kMostSide; side *= 2) {
    levels_.push_back({cols, rows, std::vector<int>(cols * rows), std::vector<std::uint8_t>(rows)});
    if (cols == 1 && rows == 1) break;
    cols = (cols + 1) / 2;
    rows = (rows + 1) / 2;
  }
}

void BlockSums::refresh() {
  for (std::size_t l = 1; l < levels_.size(); ++l) {
    Level& fine = levels_[l - 1];
    Level& coarse = levels_[l];
    for (std::size_t y = 0; y < coarse.rows; ++y) {
      const bool two = 2 * y + 1 < fine.rows;
      if (fine.changed[2 * y] == 0 && (!two || fine.changed[2 * y + 1] == 0)) continue;
      coarse.changed[y] = 1;
      const int* const upper = fine.sums.data() + 2 * y * fine.cols;
      const int* const lower = two ? upper + fine.cols : nullptr;
      int* const out = coarse.sums.data() + y * coarse.cols;
      const std::size_t pairs = fine.cols / 2;
      if (two) {
        for (std::size_t x = 0; x < pairs; ++x)
          out[x] = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
      } else {
        for (std::size_t x = 0; x < pairs; ++x) out[x] = upper[2 * x] + upper[2 * x + 1];
      }
      if (fine.cols % 2 != 0) out[pairs] = upper[fine.cols - 1] + (two ? lower[fine.cols - 1] : 0);
    }
    std::fill(fine.changed.begin(), fine.changed.end(), std::uint8_t{0});
  }
  std::fill(levels_.back().changed.begin(), levels_.back().changed.end(), std::uint8_t{0});
}

int BlockSums::level_of(int side) const {
  if (side < kQuarter || !std::has_single_bit(static_cast<unsigned>(side))) return -1;
  const int level = std::countr_zero(static_cast<unsigned>(side / kQuarter));
  return static_cast<std::size_t>(level) < levels_.size() ? level : -1;
}

}  // namespace saccade
