// Weights of tiles, by arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "pipeline/gaze/weights/acuity.h"
#include "pipeline/gaze/weights/cues.h"
#include "pipeline/gaze/weights/fatigue.h"
#include "pipeline/gaze/weights/ignored.h"
#include "pipeline/gaze/weights/onset.h"

namespace saccade {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<Weight> weigh(Fatigue& fatigue, std::int64_t pts_ns, std::size_t tiles) {
  std::vector<Weight> weights(tiles, kFullWeight);
  fatigue.weigh(pts_ns, weights);
  return weights;
}

TEST(Fatigue, TileSentAgain_CountsLess) {
  Fatigue fatigue({3, 2});
  const Square tile{0, 2, 0}, four{1, 0, 0};
  fatigue.note(0, std::span(&tile, 1));
  fatigue.note(kSecond, std::span(&tile, 1));
  fatigue.note(kSecond, std::span(&four, 1));
  EXPECT_THAT(weigh(fatigue, kSecond, 6), ElementsAre(32768, 32768, 21845, 32768, 32768, 65536));
}

TEST(Fatigue, AfterTwoSeconds_IsForgotten) {
  Fatigue fatigue({2, 1});
  const Square tile{0, 0, 0};
  for (int look = 0; look < 3; ++look) fatigue.note(look * kSecond / 2, std::span(&tile, 1));
  EXPECT_EQ(weigh(fatigue, kSecond, 2)[0], kFullWeight / 4);
  EXPECT_EQ(weigh(fatigue, 2 * kSecond, 2)[0], kFullWeight / 4);  // two seconds ago still counts
  EXPECT_EQ(weigh(fatigue, 2 * kSecond + 1, 2)[0], kFullWeight / 3);
  EXPECT_EQ(weigh(fatigue, 10 * kSecond, 2)[0], kFullWeight);
  fatigue.note(10 * kSecond, std::span(&tile, 1));
  fatigue.forget();
  EXPECT_EQ(weigh(fatigue, 10 * kSecond, 2)[0], kFullWeight);
}

TEST(Fatigue, SquareBeyondTheFrame_CountsForTilesInside) {
  Fatigue fatigue({3, 3});
  const Square corner{2, 0, 0};
  fatigue.note(0, std::span(&corner, 1));
  EXPECT_THAT(weigh(fatigue, 0, 9), testing::Each(kFullWeight / 2));
}

TEST(Onset, TileThatHasNotJustChanged_CountsLess) {
  Onset onset({3, 1});
  const auto weigh = [&onset](std::int64_t pts_ns) {
    std::vector<Weight> weights(3, kFullWeight);
    onset.weigh(pts_ns, weights);
    return weights;
  };
  Damage damage(TileGrid{3, 1});
  damage.set_all();
  onset.note(0, damage);
  EXPECT_THAT(weigh(0), testing::Each(kFullWeight / 4));
  damage.clear();
  damage.set(1);
  onset.note(kSecond, damage);
  EXPECT_THAT(weigh(2 * kSecond), ElementsAre(kFullWeight / 4, kFullWeight, kFullWeight / 4));
  EXPECT_THAT(weigh(2 * kSecond + 1), testing::Each(kFullWeight / 4));
  onset.forget();
  EXPECT_THAT(weigh(kSecond), testing::Each(kFullWeight / 4));
}

// 16 px a degree: the centre of tile n is n degrees from that of tile 0.
TEST(Acuity, WeightOfATile_FallsAsResolution) {
  shared::FoveaParams fovea{};
  fovea.m0 = fovea.e0 = 2.3f;
  fovea.unit_per_px_x = fovea.unit_per_px_y = 1.0f / 16;
  for (const double share : {0.0, 0.25, 1.0}) {
    std::vector<Weight> weights(40, kFullWeight);
    weigh_by_acuity(fovea, 8, 8, static_cast<float>(share), {40, 1}, weights);
    for (int n = 0; n < 40; ++n) {
      const double expected = 1 - share + share * 2.3 / (n + 2.3);
      EXPECT_NEAR(weights[static_cast<std::size_t>(n)], expected * kFullWeight, 1) << n << " share " << share;
    }
  }
}

TEST(Acuity, EarlierWeights_AreMultiplied) {
  shared::FoveaParams fovea{};
  fovea.m0 = fovea.e0 = 1.0f;
  fovea.unit_per_px_x = fovea.unit_per_px_y = 1.0f / 16;
  std::vector<Weight> weights{kFullWeight / 4, kFullWeight / 4};
  weigh_by_acuity(fovea, 8, 8, 1, {2, 1}, weights);
  EXPECT_THAT(weights, ElementsAre(kFullWeight / 4, kFullWeight / 8));
}

ScreenCues cues_of(std::optional<PixelRect> focus, bool typing) {
  ScreenCues cues;
  cues.weigh = true;
  cues.focus = focus;
  cues.typing = typing;
  return cues;
}

// A row of 16 tiles.
class CuesTest : public testing::Test {
 protected:
  static constexpr int kTiles = 16;
  static constexpr Weight kNear = kFullWeight / 4, kElsewhere = kFullWeight / 16;

  void note(std::int64_t pts_ns, std::initializer_list<int> changed) {
    Damage damage(TileGrid{kTiles, 1});
    for (const int tile : changed) damage.set(tile);
    cues_.note(pts_ns, damage, now_);
  }
  std::vector<Weight> weigh(std::int64_t pts_ns, Weight before = kFullWeight) {
    std::vector<Weight> weights(kTiles, before);
    cues_.weigh(pts_ns, weights);
    return weights;
  }

  ScreenCues now_ = cues_of(std::nullopt, false);
  Cues cues_{{kTiles, 1}, kTiles * 16, 16};
};

TEST_F(CuesTest, FrameWithoutCues_IsNotWeighed) {
  note(0, {3});
  EXPECT_THAT(weigh(0), testing::Each(kFullWeight));
  now_ = cues_of(PixelRect{0, 0, 16, 16}, true);
  now_.weigh = false;
  now_.pointer_u = now_.pointer_v = 0.5f;
  note(0, {0});
  EXPECT_THAT(weigh(0), testing::Each(kFullWeight));
}

TEST_F(CuesTest, FocusedWindowAndPointer_CountMoreThanTheRest) {
  now_.focus = PixelRect{15, 0, 18, 16};  // touches tiles 0, 1 and 2
  now_.pointer_u = 200.5f / 256;          // pixels 136 to 264: tiles 8 to 15
  now_.pointer_v = 0.5f;
  note(0, {});
  std::vector<Weight> expected(kTiles, kElsewhere);
  for (const int tile : {0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15}) expected[static_cast<std::size_t>(tile)] = kNear;
  EXPECT_EQ(weigh(0), expected);
  EXPECT_EQ(weigh(0, kFullWeight / 2)[0], kNear / 2);
}

TEST_F(CuesTest, WhatIsTyped_CountsInFullForASecond) {
  now_.focus = PixelRect{0, 0, 64, 16};
  note(0, {1});  // no key was pressed
  EXPECT_EQ(weigh(0)[1], kNear);
  now_.typing = true;
  note(kSecond, {2, 9});
  now_.typing = false;
  note(kSecond, {});
  std::vector<Weight> expected(kTiles, kElsewhere / 8);
  for (const std::size_t tile : {0, 1, 3}) expected[tile] = kNear / 8;
  expected[2] = kFullWeight;
  EXPECT_EQ(weigh(2 * kSecond, kFullWeight / 8), expected);
  EXPECT_EQ(weigh(2 * kSecond, 0)[2], 0U);  // ignored
  EXPECT_EQ(weigh(2 * kSecond + 1)[2], kNear);
  cues_.forget();
  EXPECT_EQ(weigh(kSecond)[2], kNear);
}

TEST(Cues, ChangeOfManyTiles_IsNotTyped) {
  const TileGrid grid{257, 1};
  Cues cues(grid, 257 * 16, 16);
  Damage damage(grid);
  const ScreenCues now = cues_of(PixelRect{0, 0, 257 * 16, 16}, true);
  std::vector<Weight> weights(257, kFullWeight);
  for (int tile = 0; tile < 257; ++tile) damage.set(tile);
  cues.note(0, damage, now);
  cues.weigh(0, weights);
  EXPECT_THAT(weights, testing::Each(kFullWeight / 4));
}

TEST(Ignored, TilesOfARegion_CountNothing) {
  std::vector<Weight> weights{5, 6, 7};
  const std::uint8_t ignored[] = {0, 1, 0};
  weigh_ignored({}, weights);
  EXPECT_THAT(weights, ElementsAre(5, 6, 7));
  weigh_ignored(ignored, weights);
  EXPECT_THAT(weights, ElementsAre(5, 0, 7));
}

}  // namespace
}  // namespace saccade
