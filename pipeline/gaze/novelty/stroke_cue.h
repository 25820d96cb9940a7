// A cheap cue for text and drawings: detail of strokes, whose surround is even, against that of textures and edges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pyramid_layout.h"
#include "pipeline/gaze/novelty/block_sums.h"

namespace saccade {

// Note [Stroke cue]
// Along a line of letters the mean of 8 x 16 pixels hardly changes, and single texels do. In a natural texture both
// change alike (its spectrum falls as 1/f), and at a lone edge the means change more. So per tile and axis: the sum of
// steps between texels, and of steps between halves of tiles, at half resolution, in integers; both summed over the
// tile and its eight neighbours; the share of the first is the cue, of the axis where it is larger.
class StrokeCue {
 public:
  explicit StrokeCue(TileGrid grid);

  // Where the steps between texels of a row of tiles are written.
  int* across(std::size_t y) { return row_of(kAcross, y); }
  int* down(std::size_t y) { return row_of(kDown, y); }
  // After that, of tiles [begin, end) of a row. codes: of them and of their neighbours to the right and below.
  void measure(std::size_t y, std::size_t begin, std::size_t end, const BlockSums& codes);
  void rate();                                                 // after measure() of what changed
  std::span<const float> strokes() const { return strokes_; }  // 0 .. 1 per tile

 private:
  enum Steps : std::size_t { kAcross, kAcrossHalves, kDown, kDownHalves, kSteps };
  int* row_of(Steps steps, std::size_t y) {
    return steps_[steps].data() + (y + 1) * static_cast<std::size_t>(grid_.cols);
  }
  void rate_row(int y);

  TileGrid grid_;
  std::array<std::vector<int>, kSteps> steps_;   // of each tile, and before them a row of none
  std::array<std::vector<int>, kSteps> around_;  // of a row: sums over it and its neighbours; a tile more at each end
  std::vector<std::uint8_t> measured_;           // of each row: a tile of it
  std::vector<float> strokes_;
};

}  // namespace saccade
