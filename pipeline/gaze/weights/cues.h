// Where the person at a screen works: what is typed comes first, then the focused window and what the pointer is at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "pipeline/gaze/weights/weight.h"
#include "pipeline/screen_cues.h"

namespace saccade {

// Weighs a tile by 1/4 in the focused window and at most 64 px from the pointer, and by 1/16 elsewhere. A tile is typed
// if it changed in the focused window while keys were pressed, in the last second. It counts in full, however often it
// was sent. More than 256 such tiles of one frame are not typed: the window scrolls, or plays a film.
// Frames without cues are not weighed.
class Cues {
 public:
  Cues(TileGrid grid, int width_px, int height_px);  // of the frame

  void note(std::int64_t pts_ns, const Damage& damage, const ScreenCues& cues);  // every frame
  // Multiplies the weight of each tile. Sets that of a typed one, unless it is 0: so after all other weights.
  void weigh(std::int64_t pts_ns, std::span<Weight> weights);
  void forget();

 private:
  TileGrid grid_;
  int width_px_, height_px_;
  std::vector<std::int64_t> typed_ns_;  // of each tile
  std::vector<Weight> places_;          // of each tile, by where it lies
  ScreenCues now_;
};

}  // namespace saccade
