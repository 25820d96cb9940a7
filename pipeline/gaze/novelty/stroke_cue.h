// A cheap cue for text and drawings: detail of strokes, whose surround is even, against that of textures and edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"

namespace saccade {

// Note [Stroke cue]
// Along a line of letters the mean of 8 x 16 pixels hardly changes, and single texels do. In a natural texture both
// change alike (its spectrum falls as 1/f), and at a lone edge the means change more. So per tile and axis: the sum of
// steps between texels, and of steps between halves of tiles, at half resolution, in integers; both summed over the
// tile and its eight neighbours; the share of the first is the cue, of the axis where it is larger.
class StrokeCue {
 public:
  explicit StrokeCue(TileGrid grid);

  // luma: level 1 with 8 x 8 texels a tile, and a row and a column beyond the last; rows are 8 * cols + 1 long.
  // Steps up to `noise` count for nothing.
  void measure(std::size_t tile, std::span<const std::uint8_t> luma, int noise);
  void rate();                                                 // after measure() of what changed
  std::span<const float> strokes() const { return strokes_; }  // 0 .. 1 per tile

 private:
  struct Steps {
    int fine = 0, coarse = 0;
  };
  Steps around(const std::vector<Steps>& axis, int x, int y) const;

  TileGrid grid_;
  std::vector<Steps> across_, down_;
  std::vector<float> strokes_;
};

}  // namespace saccade
