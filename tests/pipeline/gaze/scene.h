// A small picture in a CPU pyramid, for tests that need something to look at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu/pyramid.h"
#include "kernels/damage.h"

namespace saccade {

// Owns the samples of a frame (RGBA8, or I420 of 8 or 16 bits) and the pyramid it is uploaded to.
class Scene {
 public:
  Scene(int width_px, int height_px, TextureFormat format, int levels = kDefaultLevels)
      : pyramid_(make_pyramid_layout(width_px, height_px, format, levels)), damage_(pyramid_.layout().tiles) {
    const std::size_t texel = format == TextureFormat::kRgba8 ? 4 : format == TextureFormat::kYuv16 ? 2 : 1;
    const auto width = static_cast<std::size_t>(width_px), height = static_cast<std::size_t>(height_px);
    const std::size_t chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    planes_[0].assign(width * height * texel, 0);
    if (format != TextureFormat::kRgba8) {
      for (int p : {1, 2}) planes_[static_cast<std::size_t>(p)].assign(chroma_width * chroma_height * texel, 0);
    }
    view_.layout = format == TextureFormat::kRgba8   ? PixelLayout::kRgba8
                   : format == TextureFormat::kYuv16 ? PixelLayout::kI420p16
                                                     : PixelLayout::kI420;
    view_.width_px = width_px;
    view_.height_px = height_px;
    view_.color.depth_bits = format == TextureFormat::kYuv16 ? 16 : 8;
    for (std::size_t p = 0; p < 3; ++p) {
      view_.planes[p] = {.data = planes_[p].data(),
                         .pitch_bytes = static_cast<std::ptrdiff_t>((p == 0 ? width : chroma_width) * texel)};
    }
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  std::vector<std::uint8_t>& plane(std::size_t p) { return planes_[p]; }
  const FrameView& view() const { return view_; }
  CpuPyramid& pyramid() { return pyramid_; }
  Damage& damage() { return damage_; }
  int width_px() const { return view_.width_px; }
  int height_px() const { return view_.height_px; }

  void fill(std::uint8_t value) {
    for (auto& plane : planes_) std::fill(plane.begin(), plane.end(), value);
  }
  void randomise(std::mt19937& random) {
    for (auto& plane : planes_) {
      for (auto& byte : plane) byte = static_cast<std::uint8_t>(random());
    }
  }
  // New random bytes in the luma (or RGBA) and chroma of one tile, which is marked as damaged.
  void damage_tile(int tile, std::mt19937& random, std::uint32_t energy = 0) {
    const TileGrid grid = damage_.grid();
    for (std::size_t p = 0; p < 3; ++p) {
      const int size = p == 0 ? kTilePx : kTilePx / 2;
      const int width = p == 0 ? view_.width_px : (view_.width_px + 1) / 2;
      const int height = p == 0 ? view_.height_px : (view_.height_px + 1) / 2;
      if (planes_[p].empty()) continue;
      const int texel = static_cast<int>(view_.planes[p].pitch_bytes) / width;
      const int x = tile % grid.cols * size, y = tile / grid.cols * size;
      for (int row = y; row < std::min(y + size, height); ++row) {
        for (int b = x * texel; b < std::min(x + size, width) * texel; ++b) {
          planes_[p][static_cast<std::size_t>(row * width * texel + b)] = static_cast<std::uint8_t>(random());
        }
      }
    }
    damage_.set(tile, energy);
  }
  // Brings the pyramid up to date where damage() says so.
  void upload() {
    pyramid_.upload(view_, damage_);
    pyramid_.refresh_mips(damage_);
  }
  void upload_all() {
    damage_.set_all();
    upload();
  }

 private:
  std::array<std::vector<std::uint8_t>, 3> planes_;
  FrameView view_;
  CpuPyramid pyramid_;
  Damage damage_;
};

}  // namespace saccade
