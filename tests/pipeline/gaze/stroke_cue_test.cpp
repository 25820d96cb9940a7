// Detail of strokes against that of edges and textures: the cue by arithmetic.
#include "pipeline/gaze/novelty/stroke_cue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "kernels/cpu/ops.h"

namespace saccade {
namespace {

constexpr int kTexels = 8;
constexpr int kNoise = 8;

// A picture of cols x rows tiles at half resolution, measured whole.
std::vector<float> strokes_of(int cols, int rows, const std::function<int(int x, int y)>& luma) {
  const int width = cols * kTexels, height = rows * kTexels;
  std::vector<std::uint8_t> picture;
  for (int y = 0; y <= height; ++y) {
    for (int x = 0; x <= width; ++x) {
      picture.push_back(static_cast<std::uint8_t>(luma(std::min(x, width - 1), std::min(y, height - 1))));
    }
  }
  picture.resize(picture.size() + 64);
  StrokeCue cue({cols, rows});
  BlockSums codes({cols, rows});
  std::vector<int> unused(2 * static_cast<std::size_t>(cols));
  const auto high = static_cast<std::size_t>(rows);
  for (std::size_t y = 0; y < high; ++y) {
    const std::uint8_t* const row = picture.data() + y * kTexels * static_cast<std::size_t>(width + 1);
    plain_ops().tile_detail({cols, row, row, row, width + 1, 0, kNoise},
                            {cue.across(y),
                             cue.down(y),
                             unused.data(),
                             unused.data(),
                             unused.data(),
                             {codes.quarters(2 * y), codes.quarters(2 * y + 1)},
                             {unused.data(), unused.data()}});
  }
  for (std::size_t y = 0; y < high; ++y) cue.measure(y, 0, static_cast<std::size_t>(cols), codes);
  cue.rate();
  return {cue.strokes().begin(), cue.strokes().end()};
}

TEST(StrokeCue, StripesWhoseMeansAreEven_AreStrokesAll) {
  for (const int width : {1, 2}) {
    const auto stripe = [=](int at) { return at / width % 2 == 0 ? 0 : 255; };
    EXPECT_THAT(strokes_of(5, 3, [&](int x, int) { return stripe(x); }), ::testing::Each(1.0f)) << width;
    EXPECT_THAT(strokes_of(5, 3, [&](int, int y) { return stripe(y); }), ::testing::Each(1.0f)) << width;
  }
}

TEST(StrokeCue, LoneEdge_IsMostlyNone) {
  // Between tiles 0 and 1: 8 steps of 200 less noise, and halves of 32 texels that differ by 200 each.
  constexpr float kShare = 8.0f * (200 - kNoise) / (8.0f * (200 - kNoise) + 32.0f * 200);
  const auto edge = [](int at) { return at < kTexels ? 0 : 200; };
  EXPECT_THAT(strokes_of(4, 1, [&](int x, int) { return edge(x); }),
              ::testing::ElementsAre(kShare, kShare, 0.0f, 0.0f));
  EXPECT_THAT(strokes_of(1, 4, [&](int, int y) { return edge(y); }),
              ::testing::ElementsAre(kShare, kShare, 0.0f, 0.0f));
}

TEST(StrokeCue, ColumnsOfFourTexels_AreMostlyNone) {
  // A tile: 8 rows x 2 steps of 92, and twice two halves of 32 texels that differ by 100 each.
  const auto strokes = strokes_of(6, 4, [](int x, int) { return x / 4 % 2 == 0 ? 50 : 150; });
  for (const float share : strokes) EXPECT_NEAR(share, 16.0 * 92 / (16.0 * 92 + 64 * 100), 0.02);
}

TEST(StrokeCue, StepsWithinNoise_AreNone) {
  EXPECT_THAT(strokes_of(3, 3, [](int x, int) { return 100 + (x % 2) * kNoise; }), ::testing::Each(0.0f));
  EXPECT_THAT(strokes_of(3, 3, [](int x, int y) { return 4 * (x + y) / 2; }), ::testing::Each(0.0f));
}

TEST(StrokeCue, OneTileOfStrokes_CountsForItsNeighbours) {
  const auto strokes = strokes_of(7, 7, [](int x, int y) {  // 0 and 220 in columns, 110 around: even means
    const bool inside = x / kTexels == 3 && y / kTexels == 3;
    return !inside ? 110 : x % 2 == 0 ? 220 : 0;
  });
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 7; ++x) {
      const int away = std::max(std::abs(x - 3), std::abs(y - 3));
      const float share = strokes[static_cast<std::size_t>(7 * y + x)];
      if (away == 2) continue;  // its last column and row step to the next tile
      EXPECT_EQ(share, away < 2 ? 1.0f : 0.0f) << x << "," << y;
    }
  }
}

TEST(StrokeCue, OneTileAlone_HasNoNeighbours) {
  EXPECT_THAT(strokes_of(1, 1, [](int x, int) { return x % 2 == 0 ? 0 : 255; }), ::testing::ElementsAre(1.0f));
  EXPECT_THAT(strokes_of(1, 1, [](int, int) { return 77; }), ::testing::ElementsAre(0.0f));
}

}  // namespace
}  // namespace saccade
