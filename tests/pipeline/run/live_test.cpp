// What live streams need that no server is needed to test: catching up, ages, policies.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "pipeline/run/frame_queue.h"
#include "pipeline/run/live_meter.h"
#include "pipeline/source/demux/lag.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFrame = kSecond / 25;

// A stream of 25 frames/s, a key frame each second.
struct Stream {
  LagGate gate;
  std::int64_t frame = 0;
  bool feed(std::int64_t now_ns) {
    const bool key = frame % 25 == 0;
    return gate.admits(1000 * kSecond + kFrame * frame++, now_ns, key);
  }
};

TEST(LagGate, StreamInTime_IsAdmitted) {
  Stream stream;
  for (int i = 0; i < 250; ++i) EXPECT_TRUE(stream.feed(kFrame * i + (i % 7) * kFrame / 4));
}

TEST(LagGate, BurstAtTheBeginning_IsAdmitted) {  // what waited while the stream was looked at
  Stream stream;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(stream.feed(2 * kSecond + i * kSecond / 1000));
  for (int i = 50; i < 200; ++i) EXPECT_TRUE(stream.feed(kFrame * i));
}

TEST(LagGate, Behind_LeavesOutUpToAKeyFrame) {
  Stream stream;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(stream.feed(kFrame * i));
  const std::int64_t late = kFrame * 50 + 3 * kSecond;  // 75 packets wait
  int left_out = 0;
  std::int64_t first = -1;
  for (int i = 0; i < 125; ++i) {
    const std::int64_t due = kFrame * stream.frame;
    const bool admitted = stream.feed(std::max(late + i * kSecond / 1000, due));
    left_out += admitted ? 0 : 1;
    if (admitted && first < 0) first = stream.frame - 1;
  }
  EXPECT_EQ(first % 25, 0);
  EXPECT_GE(left_out, 25);
  EXPECT_LE(left_out, 75);
  EXPECT_LT(stream.gate.lag_ns(), LagGate::kPatience_ns);
}

TEST(LagGate, DriftingClocks_AreForgiven) {  // 200 millionths, for a day
  LagGate gate;
  for (std::int64_t second = 0; second < 86400; ++second) {
    EXPECT_TRUE(gate.admits(second * kSecond, second * kSecond + second * 200'000, true));
  }
}

TEST(LagGate, TimesThatJump_Restart) {
  LagGate gate;
  EXPECT_TRUE(gate.admits(1000 * kSecond, 0, true));
  EXPECT_TRUE(gate.admits(0, kFrame, false));  // behind by a thousand seconds: no, restarted
  EXPECT_TRUE(gate.admits(std::nullopt, 2 * kFrame, false));
}

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
  EXPECT_EQ(policy_in_force({}, true), QueuePolicy::kLatest);
  EXPECT_EQ(policy_in_force({}, false), QueuePolicy::kBlock);
  EXPECT_EQ(policy_in_force(QueuePolicy::kBlock, true), QueuePolicy::kBlock);
  EXPECT_EQ(policy_in_force(QueuePolicy::kLatest, false), QueuePolicy::kLatest);
}

}  // namespace
}  // namespace saccade
