// A rectangle of tiles as texels of a plane's level.
#pragma once

#include "kernels/damage.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

struct TexelRect {
  int x, y, width, height;
};

// Rounded outwards where a tile is less than a texel.
inline TexelRect texel_rect(const TileRect& rect, const PlaneLayout& plane, int level) {
  const int tile = plane.tile_size();
  const int round = (1 << level) - 1;
  const int x = rect.x * tile >> level;
  const int y = rect.y * tile >> level;
  return {x, y, (((rect.x + rect.width) * tile + round) >> level) - x,
          (((rect.y + rect.height) * tile + round) >> level) - y};
}

}  // namespace saccade
