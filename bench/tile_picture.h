// A picture of which clusters of tiles are drawn again from frame to frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/frame_view.h"
#include "kernels/pyramid_layout.h"

namespace saccade::bench {

// Luma, and grey chroma. `make_texels(random)` is asked for each tile that is drawn; it gives what tells the code of a
// pixel from its x and y.
template <typename MakeTexels>
class TilePicture {
 public:
  TilePicture(int width, int height, MakeTexels make_texels)
      : width_(width),
        height_(height),
        tiles_(make_pyramid_layout(width, height, TextureFormat::kYuv8).tiles),
        luma_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 128),
        chroma_(luma_.size() / 2, 128),
        make_texels_(make_texels) {
    for (int tile = 0; tile < tiles_.count(); ++tile) draw(tile);
  }

  // Draws clusters of 6 x 4 tiles, until so many tiles in a hundred were drawn.
  void change(int percent) {
    for (int changed = 0; changed * 100 < tiles_.count() * percent; changed += 24) {
      const int left = static_cast<int>(random_() % static_cast<unsigned>(tiles_.cols));
      const int top = static_cast<int>(random_() % static_cast<unsigned>(tiles_.rows));
      for (int y = top; y < std::min(top + 4, tiles_.rows); ++y) {
        for (int x = left; x < std::min(left + 6, tiles_.cols); ++x) draw(y * tiles_.cols + x);
      }
    }
  }
  FrameView view() const {
    FrameView frame;
    frame.width_px = width_;
    frame.height_px = height_;
    frame.planes = {{{luma_.data(), width_}, {chroma_.data(), width_ / 2}, {chroma_.data(), width_ / 2}}};
    return frame;
  }

 private:
  void draw(int tile) {
    const int left = tile % tiles_.cols * kTilePx, top = tile / tiles_.cols * kTilePx;
    const auto texel = make_texels_(random_);
    for (int y = top; y < std::min(top + kTilePx, height_); ++y) {
      std::uint8_t* const row = luma_.data() + std::ptrdiff_t{y} * width_;
      for (int x = left; x < std::min(left + kTilePx, width_); ++x) row[x] = static_cast<std::uint8_t>(texel(x, y));
    }
  }

  int width_, height_;
  TileGrid tiles_;
  std::vector<std::uint8_t> luma_, chroma_;
  std::mt19937 random_{1};
  MakeTexels make_texels_;
};

}  // namespace saccade::bench
