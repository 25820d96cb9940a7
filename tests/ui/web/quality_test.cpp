// The quality ladder on simulated links.
#include "ui/web/wire/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace saccade::ui {
namespace {

// Bytes of a picture on each rung, as measured for 1280x720 with the panel.
constexpr double kBytes[] = {160e3, 110e3, 80e3, 60e3, 30e3, 20e3};

struct Link {
  double bytes_per_s;
  double round_trip_ms;
  double page_ms = 20;  // to decode and draw
};

// 25 pictures a second for so long; returns the rung at each.
std::vector<int> play(QualityLadder& ladder, const Link& link, double seconds, std::int64_t& now_ns) {
  std::vector<int> rungs;
  for (int i = 0; i < static_cast<int>(seconds * 25); ++i) {
    const int rung = ladder.rung();
    const double ms = link.round_trip_ms + link.page_ms + kBytes[rung] / link.bytes_per_s * 1e3;
    now_ns += std::max<std::int64_t>(40'000'000, static_cast<std::int64_t>(ms * 1e6));
    ladder.note_ack(rung, ms, link.round_trip_ms, now_ns);
    rungs.push_back(ladder.rung());
  }
  return rungs;
}

TEST(QualityLadder, FastLink_StaysAtTheTop) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  for (const int rung : play(ladder, {100e6, 1}, 20, now_ns)) EXPECT_EQ(rung, 0);
}

TEST(QualityLadder, LongWayButWideLink_StaysAtTheTop) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  for (const int rung : play(ladder, {50e6, 200}, 20, now_ns)) EXPECT_EQ(rung, 0);
}

TEST(QualityLadder, TenMbit_SettlesWherePicturesAreInTime) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  play(ladder, {1.25e6, 10}, 3, now_ns);
  for (const int rung : play(ladder, {1.25e6, 10}, 60, now_ns)) {
    EXPECT_LE(20 + kBytes[rung] / 1.25e6 * 1e3, 90) << rung;
  }
}

TEST(QualityLadder, HopelessLink_IsAtTheBottomAndNotBelow) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  EXPECT_EQ(play(ladder, {20e3, 300}, 10, now_ns).back(), static_cast<int>(kQualitySteps.size()) - 1);
}

TEST(QualityLadder, LinkThatRecovers_ClimbsBack) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  play(ladder, {0.3e6, 10}, 5, now_ns);
  EXPECT_GE(ladder.rung(), 4);
  EXPECT_EQ(play(ladder, {100e6, 1}, 60, now_ns).back(), 0);
}

// A rung that proves too much is tried ever more rarely.
TEST(QualityLadder, LinkBetweenTwoRungs_DoesNotFlicker) {
  QualityLadder ladder;
  std::int64_t now_ns = 1;
  const Link link{0.9e6, 10, 5};  // rung 5 takes 27 ms, rung 4 38 ms, rung 3 72 ms, rung 2 94 ms
  play(ladder, link, 20, now_ns);
  const std::vector<int> rungs = play(ladder, link, 120, now_ns);
  int changes = 0;
  for (std::size_t i = 1; i < rungs.size(); ++i) changes += rungs[i] != rungs[i - 1] ? 1 : 0;
  EXPECT_LE(changes, 20);
}

TEST(QualityLadder, AcksOfAnotherRung_AreIgnored) {
  QualityLadder ladder;
  for (int i = 1; i < 100; ++i) ladder.note_ack(255, 5000, 0, i);
  EXPECT_EQ(ladder.rung(), 0);
  ladder.note_ack(0, 5000, 0, 200);
  EXPECT_EQ(ladder.rung(), 2);
  for (int i = 1; i < 100; ++i) ladder.note_ack(0, 5000, 0, 200 + i);
  EXPECT_EQ(ladder.rung(), 2);
}

TEST(QualityLadder, APersonsChoice_Stands) {
  QualityLadder ladder;
  ladder.fix(3);
  for (int i = 1; i < 100; ++i) ladder.note_ack(3, 5000, 0, i);
  EXPECT_EQ(ladder.rung(), 3);
  ladder.fix(1000);
  EXPECT_EQ(ladder.rung(), static_cast<int>(kQualitySteps.size()) - 1);
  ladder.fix(-5);
  EXPECT_EQ(ladder.rung(), 0);
  ladder.fix(std::nullopt);
  EXPECT_FALSE(ladder.is_fixed());
  EXPECT_EQ(ladder.rung(), 0);
}

}  // namespace
}  // namespace saccade::ui
