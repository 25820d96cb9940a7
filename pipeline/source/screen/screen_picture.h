// The picture of a screen: its pixels, and rectangles of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/frame_view.h"

namespace saccade {

bool is_empty(const PixelRect& rect);
PixelRect common(const PixelRect& a, const PixelRect& b);  // empty: they have none in common
PixelRect around(const PixelRect& a, const PixelRect& b);  // both; an empty a counts for nothing
// At most 32: more become the one around all. So each is read and compared on its own, and their number stays small.
void merge_if_many(std::vector<PixelRect>& rects);

// RGBA, rows without padding, black at first. Alpha is 255.
class ScreenPicture {
 public:
  ScreenPicture() = default;
  ScreenPicture(int width_px, int height_px);

  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }
  PixelRect area() const { return {0, 0, width_px_, height_px_}; }
  std::size_t bytes() const { return pixels_.size(); }
  const std::uint8_t* data() const { return pixels_.data(); }
  std::uint8_t* row(int y, int x = 0) {
    return pixels_.data() + (std::ptrdiff_t{y} * width_px_ + std::ptrdiff_t{x}) * 4;
  }
  void blacken();
  // These are black from now on, whatever copy() brings. They may reach outside of the picture.
  void hide(std::vector<PixelRect> rects);
  const std::vector<PixelRect>& hidden() const { return hidden_; }
  // Four bytes a pixel: blue, green, red, any; swapped: red, green, blue, any. rect lies inside the picture.
  void copy(const std::uint8_t* pixels, std::ptrdiff_t pitch_bytes, const PixelRect& rect, bool swapped = false);
  // pointer: ARGB, alpha already multiplied, at.width a row. at: may lie in part outside of the picture; inside: what
  // of it is drawn.
  void draw(const std::vector<std::uint32_t>& pointer, const PixelRect& at, const PixelRect& inside);

 private:
  int width_px_ = 0, height_px_ = 0;
  void blacken(const PixelRect& rect);

  std::vector<std::uint8_t> pixels_;
  std::vector<PixelRect> hidden_;
};

}  // namespace saccade
