// How lately each tile was damaged: what view `damage` lays over the frame.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/damage.h"
#include "ui/picture/tile_texture.h"

namespace saccade::ui {

// A value a tile: 255 for a tile damaged at this moment, 0 a second later. By the video's time, so that pictures
// repeat. One thread, the GL context's.
class TileFreshness {
 public:
  void note(const Damage& damage, std::int64_t pts_ns);  // of each shown frame; times may jump
  void upload() { texture_.upload(grid_, values_); }     // before drawing
  const TileTexture& texture() const { return texture_; }
  const std::vector<std::uint8_t>& values() const { return values_; }

 private:
  TileGrid grid_;
  std::vector<std::int64_t> damaged_at_ns_;
  std::vector<std::uint8_t> values_;
  std::int64_t now_ns_ = 0;
  TileTexture texture_;
};

}  // namespace saccade::ui
