#include "pipeline/gaze/scanpath/scanpath_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade {
namespace {

const FrameGeometry kGeometry{1920, 1080, 1.0, 7};

std::unique_ptr<Scanpath> raster(double rate_hz = 4) {
  ScanpathConfig config;
  config.policy = FixationPolicy::kRaster;
  config.argument = "4x3";
  config.rate_hz = rate_hz;
  return make_scanpath(config, kGeometry);
}

// Seconds the saccade to fixation k of a 4x3 raster takes: 21 ms + 2.2 ms per degree; the frame is 40 degrees wide, so
// a cell is 10 degrees wide and 7.5 high.
double raster_flight_s(std::int64_t k) {
  const auto col = [](std::int64_t i) { return static_cast<double>(i % 12 % 4); };
  const auto row = [](std::int64_t i) { return static_cast<double>(i % 12 / 4); };
  const double amplitude_deg = std::hypot(10 * (col(k) - col(k - 1)), 7.5 * (row(k) - row(k - 1)));
  return std::min(0.021 + 0.0022 * amplitude_deg, 0.125);
}

std::vector<std::int64_t> constant_rate(std::int64_t numerator, std::int64_t denominator, std::int64_t start_ns,
                                        double hours) {
  std::vector<std::int64_t> times;
  for (std::int64_t n = 0;; ++n) {
    const auto ns = static_cast<std::int64_t>(
        std::llround(static_cast<long double>(n) * 1e9L * static_cast<long double>(denominator) /
                     static_cast<long double>(numerator)));
    if (static_cast<double>(ns) >= hours * 3600e9) return times;
    times.push_back(start_ns + ns);
  }
}

std::vector<std::int64_t> variable_rate(double hours) {
  std::mt19937 random(7);
  std::vector<std::int64_t> times;
  for (std::int64_t ns = 0; static_cast<double>(ns) < hours * 3600e9; ns += 5'000'000 + random() % 75'000'000)
    times.push_back(ns);
  return times;
}

// Each fixation lands once, on the first frame at or after its landing time; an hour holds 14400 fixations.
void expect_an_exact_hour(const std::vector<std::int64_t>& times) {
  const auto path = raster();
  const SceneView nothing;
  std::int64_t landings = 0;
  std::int64_t last_landed = -1;
  for (std::size_t n = 0; n < times.size(); ++n) {
    const Gaze gaze = path->step(times[n], nothing);
    const double t = static_cast<double>(times[n] - times[0]) * 1e-9;
    ASSERT_EQ(gaze.fixation, (times[n] - times[0]) / 250'000'000) << "frame " << n;
    if (!gaze.landed) continue;
    ++landings;
    ASSERT_EQ(gaze.fixation, last_landed + 1) << "frame " << n;
    last_landed = gaze.fixation;
    ASSERT_FALSE(gaze.in_flight);
    if (n == 0) continue;
    const double landing = static_cast<double>(gaze.fixation) * 0.25 + raster_flight_s(gaze.fixation);
    const double before = static_cast<double>(times[n - 1] - times[0]) * 1e-9;
    ASSERT_GE(t, landing - 1e-7) << "frame " << n;
    ASSERT_LT(before, landing + 1e-7) << "frame " << n;
  }
  EXPECT_NEAR(static_cast<double>(landings), 14400, 1);
}

TEST(ScanpathClock, HourAt23976_IsExact) { expect_an_exact_hour(constant_rate(24000, 1001, 0, 1)); }
TEST(ScanpathClock, HourAt25_IsExact) { expect_an_exact_hour(constant_rate(25, 1, -40'000'000, 1)); }
TEST(ScanpathClock, HourAt2997_IsExact) { expect_an_exact_hour(constant_rate(30000, 1001, 1'400'000'000, 1)); }
TEST(ScanpathClock, HourAt60_IsExact) { expect_an_exact_hour(constant_rate(60, 1, 0, 1)); }
TEST(ScanpathClock, HourOfVariableFrameRate_IsExact) { expect_an_exact_hour(variable_rate(1)); }

TEST(ScanpathClock, AfterYears_HasNotDrifted) {
  const RateSchedule third(3.0);
  for (const std::int64_t k :
       {std::int64_t{1}, std::int64_t{1'000}, std::int64_t{1'000'000'001}, std::int64_t{20'000'000'000}}) {
    // ceil(k * 1e9 / 3) is the first nanosecond of fixation k.
    const std::int64_t begins_ns = k / 3 * 1'000'000'000 + (k % 3 * 1'000'000'000 + 2) / 3;
    EXPECT_EQ(third.due(begins_ns).index, k);
    EXPECT_EQ(third.due(begins_ns).departs_ns, begins_ns);
    EXPECT_EQ(third.due(begins_ns - 1).index, k - 1);
  }
  EXPECT_EQ(third.due(0).period_ns, 333'333'333);
  EXPECT_EQ(RateSchedule(4).due(std::numeric_limits<std::int64_t>::max()).index,
            std::numeric_limits<std::int64_t>::max() / 250'000'000);
  EXPECT_EQ(RateSchedule(0.001).due(999'999'999'999).index, 0);  // 0.001 as a double is a little above a thousandth
  EXPECT_EQ(RateSchedule(1000).due(5'000'000).index, 5);
}

TEST(ScanpathClock, FirstFrame_IsFixationZeroLandedAtOnce) {
  const Gaze gaze = raster()->step(-12345, {});
  EXPECT_EQ(gaze.fixation, 0);
  EXPECT_TRUE(gaze.landed);
  EXPECT_FALSE(gaze.in_flight);
  EXPECT_FLOAT_EQ(gaze.u, 0.125f);
  EXPECT_FLOAT_EQ(gaze.v, 1.0f / 6);
}

// From cell 0 to cell 1: 10 degrees, 43 ms, departing at 250 ms whatever frame shows it.
TEST(ScanpathClock, Saccade_FliesAMinimumJerkPath) {
  const auto path = raster();
  constexpr std::int64_t kMs = 1'000'000;
  path->step(0, {});
  const Gaze before = path->step(249 * kMs, {});
  EXPECT_FALSE(before.in_flight);
  EXPECT_FLOAT_EQ(before.u, 0.125f);
  const Gaze departure = path->step(250 * kMs, {});
  EXPECT_TRUE(departure.in_flight);
  EXPECT_FALSE(departure.landed);
  EXPECT_EQ(departure.fixation, 1);
  EXPECT_FLOAT_EQ(departure.u, 0.125f);
  const Gaze middle = path->step(271 * kMs + kMs / 2, {});  // half of 43 ms later
  EXPECT_TRUE(middle.in_flight);
  EXPECT_NEAR(middle.u, 0.25f, 1e-5);
  const Gaze quarter_left = path->step(250 * kMs + 43 * kMs * 3 / 4, {});
  // 10 t^3 - 15 t^4 + 6 t^5 at 3/4 is 0.896484375.
  EXPECT_NEAR(quarter_left.u, 0.125 + 0.25 * 0.896484375, 1e-5);
  const Gaze landed = path->step(294 * kMs, {});
  EXPECT_TRUE(landed.landed);
  EXPECT_FALSE(landed.in_flight);
  EXPECT_FLOAT_EQ(landed.u, 0.375f);
  EXPECT_FALSE(path->step(295 * kMs, {}).landed);
}

TEST(ScanpathClock, Flight_TakesHalfAPeriodAtMost) {
  const auto path = raster(50);  // 20 ms; a saccade of 10 degrees alone would take 43
  path->step(0, {});
  EXPECT_TRUE(path->step(20'000'000, {}).in_flight);
  EXPECT_TRUE(path->step(29'999'999, {}).in_flight);
  EXPECT_TRUE(path->step(30'000'000, {}).landed);
}

TEST(ScanpathClock, SeveralDueAtOnce_MakeOneSaccade) {
  const auto path = raster();
  path->step(0, {});
  const Gaze gap = path->step(3'600'000'000'000, {});
  EXPECT_EQ(gap.fixation, 14400);
  const Gaze after = path->step(3'600'200'000'000, {});
  EXPECT_TRUE(after.landed);
  EXPECT_EQ(after.fixation, 14400);
  EXPECT_FLOAT_EQ(after.u, 0.125f);  // 14400 % 12 = 0: the first cell again
}

// One frame a second, four fixations a second: each frame shows the landing of the saccade the one before started.
TEST(ScanpathClock, FramesRarerThanFixations_AreLandings) {
  const auto path = raster();
  for (std::int64_t s = 0; s < 20; ++s) EXPECT_TRUE(path->step(s * 1'000'000'000, {}).landed || s == 1) << s;
}

TEST(ScanpathClock, TimeThatRunsBackwards_RestartsTheClock) {
  const auto path = raster();
  path->step(10'000'000'000, {});
  EXPECT_EQ(path->step(11'000'000'000, {}).fixation, 4);
  const Gaze restarted = path->step(5'000'000'000, {});
  EXPECT_EQ(restarted.fixation, 0);
  EXPECT_TRUE(restarted.landed);
  EXPECT_EQ(path->step(5'250'000'000, {}).fixation, 1);
  path->reset();
  EXPECT_EQ(path->step(9'000'000'000, {}).fixation, 0);
}

TEST(ScanpathClock, RepeatedTimeStamp_ChangesNothing) {
  const auto path = raster();
  path->step(0, {});
  EXPECT_FALSE(path->step(0, {}).landed);
  EXPECT_EQ(path->step(0, {}).fixation, 0);
}

TEST(ScanpathClock, RateOutOfRange_IsRefused) {
  for (const double rate : {0.0, -4.0, 1e-9, 5000.0, std::nan("")}) {
    ScanpathConfig config;
    config.rate_hz = rate;
    EXPECT_THROW(make_scanpath(config, kGeometry), UsageError) << rate;
  }
}

TEST(ScanpathClock, ListedFixations_BeginAtTheirTimes) {
  const ListSchedule list({100, 250, 400});
  EXPECT_EQ(list.due(0).index, 0);
  EXPECT_EQ(list.due(249).index, 0);
  EXPECT_EQ(list.due(250).index, 1);
  EXPECT_EQ(list.due(250).departs_ns, 250);
  EXPECT_EQ(list.due(250).period_ns, 150);
  EXPECT_EQ(list.due(1'000'000).index, 2);
  EXPECT_EQ(list.due(1'000'000).period_ns, 0);
}

}  // namespace
}  // namespace saccade
