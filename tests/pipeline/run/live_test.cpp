// What live streams need that no server is needed to test: ages, policies.
#include <gtest/gtest.h>

#include <chrono>

#include "pipeline/run/frame_queue.h"
#include "pipeline/run/live_meter.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(LiveMeter, Ages_CountFromCaptureAndArrival) {
  LiveMeter meter;
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  EXPECT_EQ(meter.note_done({}), 0);  // not live
  EXPECT_EQ(meter.since_capture().count(), 0);
  const std::int64_t age = meter.note_done({now - 3 * kSecond, now - kSecond, CaptureClock::kSender, 0});
  EXPECT_GE(age, 3 * kSecond);
  EXPECT_GE(meter.since_capture().min_ms(), 3000);
  EXPECT_GE(meter.since_arrival().min_ms(), 1000);
  EXPECT_LT(meter.since_arrival().min_ms(), meter.since_capture().min_ms());
  EXPECT_EQ(meter.clock(), CaptureClock::kSender);
}

TEST(LiveMeter, AfterAGap_TellsTheFirstFrame) {
  LiveMeter meter;
  FrameOrigin origin{1, 1, CaptureClock::kArrival, 0};
  EXPECT_FALSE(meter.begins_after_gap(origin));
  origin.gaps = 2;  // the frames after the first gap were dropped
  EXPECT_TRUE(meter.begins_after_gap(origin));
  EXPECT_FALSE(meter.begins_after_gap(origin));
}

TEST(LivePolicy, UnlessAsked_IsTheNewestFrame) {
  StreamInfo file, live, waits;
  live.live = waits.live = waits.sender_waits = true;
  EXPECT_EQ(policy_in_force({}, live), QueuePolicy::kLatest);
  EXPECT_EQ(policy_in_force({}, waits), QueuePolicy::kBlock);
  EXPECT_EQ(policy_in_force({}, file), QueuePolicy::kBlock);
  EXPECT_EQ(policy_in_force(QueuePolicy::kBlock, live), QueuePolicy::kBlock);
  EXPECT_EQ(policy_in_force(QueuePolicy::kLatest, waits), QueuePolicy::kLatest);
  EXPECT_EQ(policy_in_force(QueuePolicy::kLatest, file), QueuePolicy::kLatest);
}

}  // namespace
}  // namespace saccade
