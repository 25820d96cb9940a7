#include "ui/receiver/tile_shades.h"

#include <gtest/gtest.h>

namespace saccade::ui {
namespace {

constexpr ErrorMeasure kCubes{.power = 3, .noise = 1}, kSquares{.power = 2, .noise = 0};
constexpr std::uint32_t kPixels = 256;

TEST(TileShades, Error_RisesAnOctaveAtATimeFromHalfACodeTo128) {
  EXPECT_EQ(shade_of_error(0, kFullWeight, kCubes), kNoShade);
  EXPECT_EQ(shade_of_error(8, kFullWeight / 64, kCubes), 1);  // one pixel off by two codes: below the scale
  EXPECT_EQ(shade_of_error(kPixels * 8 * 8 * 8, kFullWeight, kCubes), 128);
  EXPECT_EQ(shade_of_error(kPixels * 128 * 128 * 128, kFullWeight, kCubes), 255);
  EXPECT_EQ(shade_of_error(kPixels * 8 * 8, kFullWeight, kSquares), 128);
}

TEST(TileShades, Weight_MultipliesTheError) {
  EXPECT_EQ(shade_of_error(kPixels * 16 * 16 * 16, kFullWeight / 8, kCubes),
            shade_of_error(kPixels * 8 * 8 * 8, kFullWeight, kCubes));
  EXPECT_EQ(shade_of_error(kPixels * 8 * 8 * 8, 0, kCubes), kNoShade);
}

TEST(TileShades, Weight_SpansSixOctaves) {
  EXPECT_EQ(shade_of_weight(0), kNoShade);
  EXPECT_EQ(shade_of_weight(kFullWeight / 100), 1);
  EXPECT_EQ(shade_of_weight(kFullWeight / 8), 128);
  EXPECT_EQ(shade_of_weight(kFullWeight), 255);
}

}  // namespace
}  // namespace saccade::ui
