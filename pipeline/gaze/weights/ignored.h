// Parts of the picture that are never sent for their own sake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/gaze/weights/weight.h"

namespace saccade {

// ignored: ignored_tiles() of the same grid (pipeline/gaze/ignore.h); empty: none.
inline void weigh_ignored(std::span<const std::uint8_t> ignored, std::span<Weight> weights) {
  for (std::size_t tile = 0; tile < ignored.size(); ++tile) {
    if (ignored[tile] != 0) weights[tile] = 0;
  }
}

}  // namespace saccade
