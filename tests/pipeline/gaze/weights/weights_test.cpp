// Weights of tiles, by arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "pipeline/gaze/weights/acuity.h"
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
