// Live time stamps whose sender sets its clock.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "pipeline/source/frame/sender_clock.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kFrame = kSecond / 25;
constexpr int kFrames = 200, kSetAt = 100;

std::int64_t of(int frame) { return frame * kFrame; }

using Times = std::function<std::int64_t(int)>;

std::vector<std::int64_t> times_of(const Times& stamp, const Times& arrival) {
  SenderClock clock;
  std::vector<std::int64_t> times;
  for (int i = 0; i < kFrames; ++i) times.push_back(clock.next(stamp(i), arrival(i)));
  return times;
}

// Of a clock that is set by `step` at the frame kSetAt.
Times stepped(std::int64_t step) {
  return [step](int i) { return of(i) + (i >= kSetAt ? step : 0); };
}

TEST(SenderClock, SteadyStamps_StayAsTheyAre) {
  const auto jitter = [](int i) { return of(i) + i * 7919 % 21 * 10'000'000; };  // up to 0.2 s late
  EXPECT_EQ(times_of(of, jitter), times_of(of, of));
  EXPECT_EQ(times_of(of, of)[150], of(150));
}

TEST(SenderClock, Steps_AreTakenOut) {
  for (const std::int64_t step : {-30 * kHour, -kHour, -5 * kSecond, 5 * kSecond, kHour, 30 * kHour}) {
    EXPECT_EQ(times_of(stepped(step), of), times_of(of, of)) << step;
  }
}

TEST(SenderClock, AStepAfterAPause_TakesThePause) {
  const auto arrival = [](int i) { return of(i) + (i >= kSetAt ? 7 * kSecond : 0); };
  for (const std::int64_t step : {-kHour, kHour}) {
    EXPECT_EQ(times_of(stepped(step), arrival), times_of(arrival, arrival)) << step;
  }
}

TEST(SenderClock, OneWrongStamp_HarmsNoOther) {
  for (const std::int64_t wrong : {-kHour, kHour}) {
    const auto stamp = [wrong](int i) { return of(i) + (i == kSetAt ? wrong : 0); };
    EXPECT_EQ(times_of(stamp, of), times_of(of, of)) << wrong;
  }
}

TEST(SenderClock, SmallSteps_AreTheStreams) {
  for (const std::int64_t step : {-SenderClock::kStep_ns / 2, SenderClock::kStep_ns / 2}) {
    EXPECT_EQ(times_of(stepped(step), of)[kSetAt], of(kSetAt) + step);
  }
}

// Frames that are missing, and what waited in a network meanwhile.
TEST(SenderClock, AGap_IsNoStep) {
  const auto gap = stepped(8 * kSecond);
  EXPECT_EQ(times_of(gap, gap)[150], gap(150));
  // Ten seconds of packets come at once; then eight seconds of frames were left out, and the delay is gone.
  const auto late = [](int i) { return i < 50 ? of(i) : i < kSetAt ? of(50) + 10 * kSecond : of(i) + 8 * kSecond; };
  EXPECT_EQ(times_of(gap, late)[150], of(150) + 8 * kSecond);
}

TEST(SenderClock, ASenderThatDoesNotPaceItself_KeepsItsGaps) {
  const auto at_once = [](int i) { return of(i) / 100; };
  EXPECT_EQ(times_of(stepped(20 * kSecond), at_once)[150], of(150) + 20 * kSecond);
}

TEST(SenderClock, AStepAfterABurst_IsTakenOut) {
  const auto burst = [](int i) { return i < 50 ? of(i) / 100 : of(i) - of(50); };  // two seconds that the sender kept
  EXPECT_EQ(times_of(stepped(kHour), burst), times_of(of, burst));
}

}  // namespace
}  // namespace saccade
