#include "pipeline/gaze/weights/acuity.h"

#include <algorithm>

namespace saccade {

void weigh_by_acuity(const shared::FoveaParams& fovea, float fix_x_px, float fix_y_px, float share, TileGrid grid,
                     std::span<Weight> weights) {
  constexpr auto kTile = static_cast<float>(kTilePx);
  std::size_t tile = 0;
  for (int ty = 0; ty < grid.rows; ++ty) {
    for (int tx = 0; tx < grid.cols; ++tx, ++tile) {
      const float x_px = (static_cast<float>(tx) + 0.5f) * kTile, y_px = (static_cast<float>(ty) + 0.5f) * kTile;
      const float e = shared::eccentricity(x_px, y_px, fix_x_px, fix_y_px, fovea);
      const float acuity = 1.0f - share + share * std::min(fovea.m0 / (e + fovea.e0), 1.0f);
      const auto weight = static_cast<Weight>(acuity * static_cast<float>(kFullWeight) + 0.5f);
      weights[tile] = product(weights[tile], weight);
    }
  }
}

}  // namespace saccade
