// What has just changed comes before what was never sent: fresh text, while the first picture is on its way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "pipeline/gaze/weights/weight.h"

namespace saccade {

// Weighs a tile by 1/4 if it has not changed in the last second. A frame that changes everywhere tells nothing.
class Onset {
 public:
  explicit Onset(TileGrid grid);

  void note(std::int64_t pts_ns, const Damage& damage);  // every frame
  // Multiplies the weight of each tile.
  void weigh(std::int64_t pts_ns, std::span<Weight> weights) const;
  void forget();

 private:
  std::vector<std::int64_t> changed_ns_;  // of each tile
};

}  // namespace saccade
