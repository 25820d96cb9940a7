#include "pipeline/run/pacer.h"

#include <gtest/gtest.h>

namespace saccade {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(Pacer, Frames_AreDueByTheirTimes) {
  Pacer pacer;
  pacer.start_at(5000 * kMs, 100 * kMs);
  EXPECT_EQ(pacer.due_ns(5000 * kMs), 100 * kMs);
  EXPECT_EQ(pacer.due_ns(5040 * kMs), 140 * kMs);
  EXPECT_EQ(pacer.due_ns(7000 * kMs), 2100 * kMs);
}

TEST(Pacer, Speed_DividesTheWait) {
  Pacer pacer;
  pacer.set_speed(2, 0);
  pacer.start_at(0, 0);
  EXPECT_EQ(pacer.due_ns(1000 * kMs), 500 * kMs);
}

TEST(Pacer, ChangeOfSpeed_KeepsThePresent) {
  Pacer pacer;
  pacer.start_at(0, 0);
  pacer.set_speed(0.5, 400 * kMs);  // the video stands at 400 ms
  EXPECT_EQ(pacer.due_ns(400 * kMs), 400 * kMs);
  EXPECT_EQ(pacer.due_ns(500 * kMs), 600 * kMs);
  pacer.set_speed(4, 600 * kMs);  // now at 500 ms
  EXPECT_EQ(pacer.due_ns(900 * kMs), 700 * kMs);
}

TEST(Pacer, LittleLate_StaysOnTheClock) {
  Pacer pacer;
  pacer.start_at(0, 0);
  pacer.shown(40 * kMs, 40 * kMs + Pacer::kForgive_ns);
  EXPECT_EQ(pacer.due_ns(80 * kMs), 80 * kMs);
}

TEST(Pacer, Stall_LeavesNoLag) {
  Pacer pacer;
  pacer.start_at(0, 0);
  pacer.shown(40 * kMs, 3000 * kMs);
  EXPECT_EQ(pacer.due_ns(80 * kMs), 3040 * kMs);
}

}  // namespace
}  // namespace saccade
