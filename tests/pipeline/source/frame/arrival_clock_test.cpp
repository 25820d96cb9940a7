// Times of a stream that carries none.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "pipeline/source/frame/arrival_clock.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<std::int64_t> times_of(const std::vector<std::int64_t>& arrivals) {
  ArrivalClock clock;
  std::vector<std::int64_t> times;
  for (const std::int64_t arrival : arrivals) times.push_back(clock.next(arrival));
  return times;
}

TEST(ArrivalClock, RegularFrames_KeepTheirTimes) {
  for (const int rate : {1, 5, 10, 50, 120}) {
    std::vector<std::int64_t> arrivals;
    for (int i = 0; i < 200; ++i) arrivals.push_back(7 * kSecond + i * (kSecond / rate));
    EXPECT_EQ(times_of(arrivals), arrivals);
  }
}

TEST(ArrivalClock, Jitter_IsSmoothed) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 500; ++i) arrivals.push_back(i * kSecond / 25 + (i * 7919 % 21 - 10) * 1'000'000);  // +-10 ms
  const std::vector<std::int64_t> times = times_of(arrivals);
  for (std::size_t i = 100; i < times.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(times[i] - times[i - 1]), 40e6, 6e6);  // of 40 +- 20 that came
    EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(i) * 40e6, 12e6);
  }
}

TEST(ArrivalClock, MissingFrames_LeaveAHole) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 300; ++i) {
    if (i % 50 != 30 && i % 50 != 31) arrivals.push_back(i * kSecond / 10);
  }
  EXPECT_EQ(times_of(arrivals), arrivals);
}

TEST(ArrivalClock, PauseAndNewRate_AreFollowed) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 100; ++i) arrivals.push_back(i * kSecond / 30);
  for (int i = 0; i < 100; ++i) arrivals.push_back(20 * kSecond + i * kSecond / 8);
  for (int i = 0; i < 100; ++i) arrivals.push_back(40 * kSecond + i * kSecond / 30);
  const std::vector<std::int64_t> times = times_of(arrivals);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_GT(times[i], times[i - 1]);
    EXPECT_LE(std::abs(times[i] - arrivals[i]), ArrivalClock::kBound_ns);
  }
  for (const std::size_t i : {99U, 100U, 199U, 200U, 299U})
    EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(arrivals[i]), 20e6);
}

TEST(ArrivalClock, Burst_RisesAndStaysNear) {
  std::vector<std::int64_t> arrivals;
  for (int i = 0; i < 50; ++i) arrivals.push_back(i * kSecond / 25);
  for (int i = 0; i < 250; ++i) arrivals.push_back(12 * kSecond);  // ten seconds at once
  const std::vector<std::int64_t> times = times_of(arrivals);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GT(times[i], times[i - 1]);
  EXPECT_LE(times.back() - 12 * kSecond, ArrivalClock::kBound_ns + 250 * ArrivalClock::kLeastStep_ns);
}

}  // namespace
}  // namespace saccade
