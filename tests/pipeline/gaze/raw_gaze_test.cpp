// Raw gaze: at each frame the gaze at its time, and nothing of ours.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade {
namespace {

std::unique_ptr<Scanpath> raw_path(const std::vector<double>& rows, std::vector<std::uint8_t> gaps = {}) {
  auto recorded = std::make_shared<RecordedScanpath>(recorded_scanpath(rows));
  recorded->gap_after = std::move(gaps);
  ScanpathConfig config;
  config.policy = FixationPolicy::kFile;
  config.gaze = GazeMode::kRaw;
  config.recorded = recorded;
  return make_scanpath(config, {640, 360, 1.0, 7});
}

std::int64_t ms(int value) { return value * 1'000'000LL; }

TEST(RawGaze, BetweenRows_IsLinear) {
  const auto path = raw_path({0, 0.25, 0.5, 0.010, 0.5, 0.5, 0.020, 0.5, 1.0});
  EXPECT_FLOAT_EQ(path->step(ms(700), {}).u, 0.25f) << "times count from the first frame";
  EXPECT_FLOAT_EQ(path->step(ms(704), {}).u, 0.35f);
  const Gaze gaze = path->step(ms(715), {});
  EXPECT_FLOAT_EQ(gaze.v, 0.75f);
  EXPECT_FALSE(gaze.in_flight);
  EXPECT_FLOAT_EQ(path->step(ms(900), {}).v, 1.0f) << "the last row holds";
}

TEST(RawGaze, BlinksAndLongGaps_AreHeld) {
  const auto path = raw_path({0, 0.1, 0.5, 0.01, 0.2, 0.5, 0.02, 0.4, 0.5, 0.2, 0.8, 0.5}, {0, 1, 0, 0});
  path->step(0, {});
  EXPECT_FLOAT_EQ(path->step(ms(19), {}).u, 0.2f) << "a blink lies between";
  EXPECT_FLOAT_EQ(path->step(ms(199), {}).u, 0.4f) << "0.18 s apart";
  EXPECT_FLOAT_EQ(path->step(ms(200), {}).u, 0.8f);
}

TEST(RawGaze, Landings_ComeAtTheRate) {
  const auto path = raw_path({0, 0.5, 0.5});
  int landings = 0;
  for (int n = 0; n < 50; ++n) landings += path->step(ms(40 * n), {}).landed ? 1 : 0;
  EXPECT_EQ(landings, 8);  // 2 s at 4 a second
}

TEST(RawGaze, Look_HoldsForOnePeriod) {
  const auto path = raw_path({0, 0.5, 0.5});
  path->step(0, {});
  path->look(0.125f, 1);
  EXPECT_FLOAT_EQ(path->step(ms(200), {}).u, 0.5f);
  EXPECT_FLOAT_EQ(path->step(ms(260), {}).u, 0.125f);
  EXPECT_FLOAT_EQ(path->step(ms(520), {}).u, 0.5f);
}

TEST(RawGaze, AnotherSourceOfFixations_IsRefused) {
  const auto path = raw_path({0, 0.5, 0.5});
  const AttentionMap map{1, 1, {1}};
  EXPECT_THROW(path->attend(&map), UsageError);
  EXPECT_THROW(path->set_source([](const FixationRequest&, const SceneView&) { return std::optional<GazePoint>(); }),
               UsageError);
  EXPECT_NO_THROW(path->attend(nullptr));
}

}  // namespace
}  // namespace saccade
