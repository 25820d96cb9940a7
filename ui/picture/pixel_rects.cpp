#include "ui/picture/pixel_rects.h"

#include <algorithm>

namespace saccade::ui {

PixelBox intersection(const PixelBox& a, const PixelBox& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
}

void PixelRects::add(const PixelBox& rect) {
  if (!rect.empty() && count_ < kMost) rects_[count_++] = rect;
}

PixelRects uncovered(const PixelBox& whole, std::span<const PixelBox> covers) {
  constexpr std::size_t kPieces = 4;
  PixelRects left;
  left.add(whole);
  for (const PixelBox& cover : covers) {
    if (left.size() * kPieces > PixelRects::kMost) break;
    PixelRects next;
    for (const PixelBox& rect : left.span()) {
      const PixelBox hole = intersection(rect, cover);
      if (hole.empty()) {
        next.add(rect);
        continue;
      }
      next.add({rect.left, rect.top, rect.right, hole.top});
      next.add({rect.left, hole.top, hole.left, hole.bottom});
      next.add({hole.right, hole.top, rect.right, hole.bottom});
      next.add({rect.left, hole.bottom, rect.right, rect.bottom});
    }
    left = next;
  }
  return left;
}

}  // namespace saccade::ui
