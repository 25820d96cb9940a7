#include "pipeline/source/screen/screen_picture.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace saccade {

constexpr std::size_t kMostRects = 32;

bool is_empty(const PixelRect& rect) { return rect.width <= 0 || rect.height <= 0; }

PixelRect common(const PixelRect& a, const PixelRect& b) {
  const int left = std::max(a.x, b.x), top = std::max(a.y, b.y);
  return {left, top, std::min(a.x + a.width, b.x + b.width) - left, std::min(a.y + a.height, b.y + b.height) - top};
}

PixelRect around(const PixelRect& a, const PixelRect& b) {
  if (is_empty(a)) return b;
  const int left = std::min(a.x, b.x), top = std::min(a.y, b.y);
  return {left, top, std::max(a.x + a.width, b.x + b.width) - left, std::max(a.y + a.height, b.y + b.height) - top};
}

void merge_if_many(std::vector<PixelRect>& rects) {
  if (rects.size() <= kMostRects) return;
  PixelRect all;
  for (const PixelRect& rect : rects) all = around(all, rect);
  rects = {all};
}

ScreenPicture::ScreenPicture(int width_px, int height_px) : width_px_(width_px), height_px_(height_px) {
  pixels_.resize(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px) * 4);
  blacken();
}

void ScreenPicture::blacken() {
  std::fill(pixels_.begin(), pixels_.end(), std::uint8_t{0});
  for (std::size_t at = 3; at < pixels_.size(); at += 4) pixels_[at] = 255;
}

void ScreenPicture::blacken(const PixelRect& rect) {
  if (is_empty(rect)) return;
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    std::uint8_t* const begin = row(y, rect.x);
    std::fill(begin, begin + std::ptrdiff_t{rect.width} * 4, std::uint8_t{0});
    for (int x = 0; x < rect.width; ++x) begin[std::ptrdiff_t{x} * 4 + 3] = 255;
  }
}

void ScreenPicture::hide(std::vector<PixelRect> rects) {
  hidden_ = std::move(rects);
  for (const PixelRect& rect : hidden_) blacken(common(rect, area()));
}

void ScreenPicture::copy(const std::uint8_t* pixels, std::ptrdiff_t pitch_bytes, const PixelRect& rect, bool swapped) {
  for (int y = 0; y < rect.height; ++y) {
    const std::uint8_t* from = pixels + y * pitch_bytes;
    std::uint8_t* to = row(rect.y + y, rect.x);
    for (int x = 0; x < rect.width; ++x, from += 4, to += 4) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, from, sizeof pixel);
      if (!swapped) pixel = (pixel & 0xff00U) | (pixel >> 16 & 0xffU) | (pixel & 0xffU) << 16;
      pixel |= 0xff000000U;
      std::memcpy(to, &pixel, sizeof pixel);
    }
  }
  for (const PixelRect& hidden : hidden_) blacken(common(hidden, rect));
}

void ScreenPicture::draw(const std::vector<std::uint32_t>& pointer, const PixelRect& at, const PixelRect& inside) {
  for (int y = inside.y; y < inside.y + inside.height; ++y) {
    for (int x = inside.x; x < inside.x + inside.width; ++x) {
      const std::uint32_t over = pointer[static_cast<std::size_t>((y - at.y) * at.width + x - at.x)];
      const std::uint32_t rest = 255 - (over >> 24);
      std::uint8_t* const to = row(y, x);
      for (int c = 0; c < 3; ++c) {
        to[c] = static_cast<std::uint8_t>(
            std::min<std::uint32_t>((over >> (16 - 8 * c) & 0xffU) + (to[c] * rest + 127) / 255, 255));
      }
    }
  }
}

}  // namespace saccade
