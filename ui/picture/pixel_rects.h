// Rectangles of a window's pixels.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace saccade::ui {

// y down; right and bottom are the first pixels outside.
struct PixelBox {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return left >= right || top >= bottom; }
  bool operator==(const PixelBox&) const = default;
};

PixelBox intersection(const PixelBox& a, const PixelBox& b);

// A few of them, without the heap.
class PixelRects {
 public:
  static constexpr std::size_t kMost = 32;
  std::span<const PixelBox> span() const& { return std::span(rects_).first(count_); }
  std::span<const PixelBox> span() const&& = delete;  // of one that is about to go
  std::size_t size() const { return count_; }
  void clear() { count_ = 0; }
  void add(const PixelBox& rect);  // empty ones, and those beyond kMost, are left out

 private:
  std::array<PixelBox, kMost> rects_{};
  std::size_t count_ = 0;
};

// What `covers` leave of `whole`, as rectangles that don't overlap. Where they would be too many, covered parts stay.
PixelRects uncovered(const PixelBox& whole, std::span<const PixelBox> covers);

}  // namespace saccade::ui
