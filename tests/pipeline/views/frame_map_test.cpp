// Points from a view to the frame and back, and to the picture as it was coded.
#include "pipeline/views/frame_map.h"

#include <gtest/gtest.h>

#include <random>

namespace saccade {
namespace {

TEST(FrameMap, RoundTrips_AreExact) {
  std::mt19937_64 rng(31);
  const auto any = [&](int least, int most) { return std::uniform_int_distribution(least, most)(rng); };
  for (int i = 0; i < 100000; ++i) {
    const FrameShape shape{any(16, 8192), any(16, 8192), any(1, 40) / 10.0, any(0, 3) * 90, any(0, 1) == 1};
    const int level = any(0, 4);
    const ImageSize size{any(1, 60) * 28, any(1, 60) * 28};
    const FrameBox box{any(0, shape.width_px), any(0, shape.height_px), size.width << level, size.height << level};
    const ImageSize seen = any(0, 1) == 1 ? size : ImageSize{any(1, 2000), any(1, 2000)};
    const auto answer = static_cast<Answer>(any(0, 2));
    const auto space = static_cast<Space>(any(0, 3));
    const PointPx at{any(0, shape.width_px * 8) / 8.0, any(0, shape.height_px * 8) / 8.0};
    const PointPx outside = to_space(shape, space, at);
    const PointPx in_view = frame_to_view(box, seen, answer, from_space(shape, space, outside));
    const PointPx back = view_to_frame(box, seen, answer, in_view);
    ASSERT_NEAR(back.x, at.x, 1e-6);
    ASSERT_NEAR(back.y, at.y, 1e-6);
  }
}

// By hand: the pixel at the upper left of a coded picture of 4 x 2.
TEST(FrameMap, Coded_RotatesClockwiseThenMirrors) {
  const auto to_frame = [](int degrees, bool mirrored, int width, int height) {
    const PointPx at = from_space({width, height, 1, degrees, mirrored}, Space::kCoded, {0.5, 0.5});
    return std::pair(at.x, at.y);
  };
  EXPECT_EQ(to_frame(0, false, 4, 2), std::pair(0.5, 0.5));
  EXPECT_EQ(to_frame(90, false, 2, 4), std::pair(1.5, 0.5));
  EXPECT_EQ(to_frame(180, false, 4, 2), std::pair(3.5, 1.5));
  EXPECT_EQ(to_frame(270, false, 2, 4), std::pair(0.5, 3.5));
  EXPECT_EQ(to_frame(0, true, 4, 2), std::pair(3.5, 0.5));
  EXPECT_EQ(to_frame(90, true, 2, 4), std::pair(0.5, 0.5));
}

TEST(FrameMap, Display_StretchesTheSideThatGains) {
  EXPECT_EQ(to_space({100, 50, 2, 0, false}, Space::kDisplay, {10, 10}).x, 20);
  EXPECT_EQ(to_space({100, 50, 0.5, 0, false}, Space::kDisplay, {10, 10}).y, 20);
}

TEST(FrameMap, Answers_MayBeThousandthsOrResizedPixels) {
  const FrameBox box{100, 200, 280, 560};
  const ImageSize size{140, 280};
  EXPECT_EQ(view_to_frame(box, size, Answer::kPixels, {70, 70}).x, 240);
  EXPECT_EQ(view_to_frame(box, size, Answer::kThousandths, {500, 250}).x, 240);
  EXPECT_EQ(view_to_frame(box, size, Answer::kNormalized, {0.5, 0.25}).y, 340);
  EXPECT_EQ(view_to_frame(box, {70, 140}, Answer::kPixels, {35, 35}).y, 340);
}

}  // namespace
}  // namespace saccade
