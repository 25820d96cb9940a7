#include "ui/picture/pixel_rects.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace saccade::ui {
namespace {

constexpr int kWidth = 40, kHeight = 30;

void count(const PixelBox& rect, std::vector<int>& times) {
  for (int y = rect.top; y < rect.bottom; ++y) {
    for (int x = rect.left; x < rect.right; ++x) ++times[static_cast<std::size_t>(y * kWidth + x)];
  }
}

// Pixel by pixel: what no cover hides is left once, what one hides is gone.
TEST(PixelRects, AnyCovers_LeaveEachUncoveredPixelOnce) {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<PixelBox> covers;
    for (int i = 0; i < round % 4; ++i) {
      const PixelBox at{below(kWidth + 8) - 4, below(kHeight + 8) - 4, 0, 0};
      covers.push_back(
          intersection({0, 0, kWidth, kHeight}, {at.left, at.top, at.left + below(30), at.top + below(30)}));
    }
    std::vector<int> hidden(kWidth * kHeight), left(kWidth * kHeight);
    for (const PixelBox& cover : covers) count(cover, hidden);
    const PixelRects rest = uncovered({0, 0, kWidth, kHeight}, covers);
    for (const PixelBox& rect : rest.span()) count(rect, left);
    for (std::size_t i = 0; i < left.size(); ++i) {
      ASSERT_EQ(left[i], hidden[i] == 0 ? 1 : 0) << "round " << round << " pixel " << i;
    }
  }
}

TEST(PixelRects, ManyCovers_LeaveRatherTooMuch) {
  std::vector<PixelBox> covers;
  for (int i = 0; i < 12; ++i) covers.push_back({3 * i + 1, 2 * i + 1, 3 * i + 2, 2 * i + 2});
  std::vector<int> left(kWidth * kHeight);
  const PixelRects rest = uncovered({0, 0, kWidth, kHeight}, covers);
  for (const PixelBox& rect : rest.span()) count(rect, left);
  for (const PixelBox& cover : covers) left[static_cast<std::size_t>(cover.top * kWidth + cover.left)] = 1;
  for (const int times : left) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace saccade::ui
