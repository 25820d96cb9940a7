// Frames' numbers and rates, by times alone.
#include "ui/viewer/frame_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ui/viewer/frame_rate.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(FrameNumbers, ConstantRate_IsTheTimesRateAlsoInMilliseconds) {
  const double fps = 30000.0 / 1001;
  FrameNumbers numbers;
  numbers.begin(7 * kMs, fps);
  for (std::int64_t n = 0; n < 200'000; n += 37) {
    const std::int64_t pts_ns = 7 * kMs + std::llround(static_cast<double>(n) * 1000 / fps) * kMs;  // as Matroska's
    EXPECT_EQ(numbers.number(pts_ns), n);
  }
}

TEST(FrameNumbers, UnevenTimes_AreCountedWhereTheyWereSeen) {
  const std::vector<std::int64_t> times{0, 40, 50, 300, 310, 900};
  FrameNumbers numbers;
  numbers.begin(0, 25);
  for (const std::int64_t time : times) numbers.note(time * kMs, true);
  numbers.note(0, false);  // sought
  for (std::size_t n = 0; n < times.size(); ++n) {
    EXPECT_EQ(numbers.number(times[n] * kMs), static_cast<std::int64_t>(n));
  }
  EXPECT_EQ(numbers.number(940 * kMs), 6);  // beyond: by the rate
  EXPECT_EQ(numbers.number(1900 * kMs), 30);
}

TEST(FrameNumbers, GapAfterASeek_IsNotTakenForNeighbours) {
  FrameNumbers numbers;
  numbers.begin(0, 10);
  numbers.note(0, true);
  numbers.note(5000 * kMs, false);
  numbers.note(5100 * kMs, true);
  EXPECT_EQ(numbers.number(5100 * kMs), 51);
  numbers.note(0, false);  // back, and on into what was never seen
  numbers.note(100 * kMs, true);
  numbers.note(200 * kMs, true);
  EXPECT_EQ(numbers.number(200 * kMs), 2);
  EXPECT_EQ(numbers.number(5100 * kMs), 51);
}

TEST(FrameNumbers, UnknownRate_StillRises) {
  FrameNumbers numbers;
  numbers.begin(0, 0);
  EXPECT_EQ(numbers.number(0), 0);
  EXPECT_EQ(numbers.number(kMs), 1);
}

TEST(FrameRate, SteadyFrames_GiveTheirRateFromTheSecondOn) {
  FrameRate rate;
  rate.note(0);
  EXPECT_EQ(rate.per_s(0), 0);
  for (int n = 1; n < 100; ++n) {
    rate.note(n * 40 * kMs);
    EXPECT_NEAR(rate.per_s(n * 40 * kMs), 25, 1e-9);
  }
}

TEST(FrameRate, SlowFrames_HaveARateToo) {
  FrameRate rate;
  rate.note(0);
  rate.note(2000 * kMs);
  EXPECT_NEAR(rate.per_s(2500 * kMs), 0.5, 1e-9);
}

TEST(FrameRate, Silence_FallsToNothing) {
  FrameRate rate;
  for (int n = 0; n <= 50; ++n) rate.note(n * 40 * kMs);
  double before = rate.per_s(2000 * kMs);
  for (int after = 100; after < 5000; after += 250) {
    const double now = rate.per_s((2000 + after) * kMs);
    EXPECT_LE(now, before);
    before = now;
  }
  EXPECT_LT(rate.per_s(4000 * kMs), 1);
  EXPECT_EQ(rate.per_s(8000 * kMs), 0);
}

TEST(FrameRate, AfterReset_KnowsNothing) {
  FrameRate rate;
  rate.note(0);
  rate.note(40 * kMs);
  rate.reset();
  rate.note(9000 * kMs);
  EXPECT_EQ(rate.per_s(9000 * kMs), 0);
}

}  // namespace
}  // namespace saccade::ui
