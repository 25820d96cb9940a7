#include "pipeline/run/feed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/pipeline/run/scripted_source.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

std::int64_t frame_ns(std::int64_t index, double rate = 30) {
  return std::llround(static_cast<double>(index) / rate * 1e9);
}

FeedConfig every_frame_of(const std::string& uri) {
  FeedConfig config;
  config.source.uri = uri;
  config.policy = QueuePolicy::kBlock;
  return config;
}

FeedConfig box(const std::string& more = "") {
  return every_frame_of("test://box?size=64x64&rate=30&frames=90" + more);
}

std::int64_t next_pts(Feed& feed) {
  Frame frame;
  EXPECT_EQ(feed.wait(frame), PollStatus::kFrame);
  return frame ? frame.view().pts_ns : -1;
}

TEST(Feed, WholeSource_GivesEveryFrameThenEnds) {
  Feed feed(box());
  Frame frame;
  std::vector<std::int64_t> times;
  while (feed.wait(frame) == PollStatus::kFrame) times.push_back(frame.view().pts_ns);
  ASSERT_EQ(times.size(), 90U);
  EXPECT_EQ(times.front(), 0);
  EXPECT_EQ(times.back(), frame_ns(89));
  EXPECT_EQ(feed.poll(frame), PollStatus::kEnd);
  EXPECT_TRUE(feed.fault().what.empty());
}

TEST(Feed, WaitingForASender_IsNotDecoding) {
  Feed feed(std::make_unique<test::ScriptedSource>(test::Script{.frames = 10, .waited_ns = 3'600'000'000'000}), {});
  Frame frame;
  while (feed.wait(frame) == PollStatus::kFrame) feed.recycle(std::exchange(frame, Frame{}));
  EXPECT_EQ(feed.decode_times().count(), 10);
  EXPECT_EQ(feed.decode_times().total_ms(), 0);  // nothing took longer than it claims to have waited
  EXPECT_EQ(feed.last_decode_ns(), 0);
}

TEST(Feed, SeekThatUsesUpMemory_SaysSo) {
  Feed feed(std::make_unique<test::ScriptedSource>(test::Script{.then = test::Script::Then::kUseUpMemory}), {});
  ASSERT_NE(feed.peek(), nullptr);
  EXPECT_FALSE(feed.seek(frame_ns(10)));
  EXPECT_EQ(feed.fault().kind, ErrorKind::kMemory) << feed.fault().what;
}

TEST(Feed, Seek_IsExactBothWays) {
  Feed feed(box());
  for (const std::int64_t index : {60, 3, 89, 0, 45}) {
    ASSERT_TRUE(feed.seek(frame_ns(index)));
    EXPECT_EQ(next_pts(feed), frame_ns(index));
    if (index < 89) {
      EXPECT_EQ(next_pts(feed), frame_ns(index + 1));
    }
  }
}

TEST(Feed, SeekBetweenTwoFrames_GivesTheLater) {
  Feed feed(box());
  ASSERT_TRUE(feed.seek(frame_ns(10) + 1));
  EXPECT_EQ(next_pts(feed), frame_ns(11));
}

TEST(Feed, SeekPastTheEnd_GivesTheLastFrame) {
  Feed feed(box());
  ASSERT_TRUE(feed.seek(frame_ns(5000)));
  EXPECT_EQ(next_pts(feed), frame_ns(89));
  Frame frame;
  EXPECT_EQ(feed.wait(frame), PollStatus::kEnd);
}

TEST(Feed, SeekBeforeTheStart_GivesTheFirstFrame) {
  Feed feed(box());
  ASSERT_TRUE(feed.seek(-frame_ns(100)));
  EXPECT_EQ(next_pts(feed), 0);
}

TEST(Feed, SeekBefore_GivesTheFrameBefore) {
  Feed feed(box());
  ASSERT_TRUE(feed.seek_before(frame_ns(50)));
  EXPECT_EQ(next_pts(feed), frame_ns(49));
  EXPECT_EQ(next_pts(feed), frame_ns(50));
  ASSERT_TRUE(feed.seek_before(0));
  EXPECT_EQ(next_pts(feed), 0);
}

TEST(Feed, SeekAfterTheEnd_GoesOnFromThere) {
  Feed feed(box());
  Frame frame;
  while (feed.wait(frame) == PollStatus::kFrame) feed.recycle(std::move(frame));
  ASSERT_TRUE(feed.seek(frame_ns(30)));
  EXPECT_EQ(next_pts(feed), frame_ns(30));
}

// B-frames, key frames 50 apart, times that begin at a second: what ffmpeg's own listing gives, and
// seeks into its middle.
TEST(Feed, FarKeyFrames_AreSoughtExactly) {
  const test::TempDir folder;
  const std::string clip = folder.file("clip.mp4");
  const std::string make =
      "ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=128x96:rate=25:duration=6 "
      "-c:v libx264 -g 50 -bf 3 -output_ts_offset 1 '" +
      clip + "'";
  ASSERT_EQ(std::system(make.c_str()), 0) << "no ffmpeg with libx264 to make a clip with";
  Feed feed(every_frame_of(clip));
  ASSERT_NE(feed.peek(), nullptr);
  const std::int64_t start = feed.start_pts_ns();
  for (const std::int64_t index : {149, 75, 49, 50, 51, 1, 120}) {
    ASSERT_TRUE(feed.seek(start + frame_ns(index, 25)));
    EXPECT_EQ(next_pts(feed), start + frame_ns(index, 25)) << "frame " << index;
  }
  ASSERT_TRUE(feed.seek_before(start + frame_ns(50, 25)));
  EXPECT_EQ(next_pts(feed), start + frame_ns(49, 25));
}

}  // namespace
}  // namespace saccade
