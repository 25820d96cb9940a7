// Playing without a window and without waiting: the clock is the test's.
#include "ui/viewer/playback.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/source/open.h"
#include "tests/ui/playback_fixture.h"
#include "ui/input/view_input.h"
#include "ui/tuning/settings_edits.h"

namespace saccade::ui {
namespace {

// A live stream: some frames, then it waits for the test, then it is over as the test says.
class LostSource final : public FrameSource {
 public:
  explicit LostSource(std::int64_t frames) : frames_(frames) {
    SourceConfig config;
    config.uri = kBox;
    inner_ = open_source(config);
    info_ = inner_->info();
    info_.uri = "rtsp://camera/door";
    info_.live = true;
  }
  const StreamInfo& info() const override { return info_; }
  ReadStatus next(Frame& out) override {
    if (given_ < frames_) {
      ++given_;
      return inner_->next(out);
    }
    if (over_ || stop_) return ReadStatus::kEnd;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ReadStatus::kAgain;
  }
  const SourceCounters& counters() const override { return counters_; }
  const Fault& fault() const override { return fault_; }
  StreamEnd end() const override { return {true, "nothing came for 3 s, and 5 tries to reconnect failed"}; }
  LinkState link() const override {
    const std::lock_guard lock(mutex_);
    return link_;
  }
  void set_link(LinkState link) {
    const std::lock_guard lock(mutex_);
    link_ = std::move(link);
  }
  void forget_rate() { info_.fps = 0; }
  void finish() { over_ = true; }
  void interrupt() override { stop_ = true; }
  void recycle(Frame frame) override { inner_->recycle(std::move(frame)); }

 private:
  const std::int64_t frames_;
  std::unique_ptr<FrameSource> inner_;
  StreamInfo info_;
  SourceCounters counters_;
  Fault fault_;
  std::int64_t given_ = 0;
  std::atomic<bool> over_{false}, stop_{false};
  mutable std::mutex mutex_;
  LinkState link_;
};

// An eye that was recorded: at frame n of ten it is at (n / 10, 0.25).
class TenLooks final : public RecordedLook {
 public:
  Gaze gaze(std::int64_t frame) const override {
    return {.u = static_cast<float>(frame) / 10, .v = 0.25f, .in_flight = false, .landed = true, .fixation = frame};
  }
  void plan(std::int64_t frame, PatchPlan& out) const override {
    out.patches.assign(3, {static_cast<float>(frame), 5, 1, 1});
  }
  void fixations(std::int64_t frame, std::size_t, std::deque<Fixation>& out) const override {
    out.assign(static_cast<std::size_t>(frame) + 1, {});
  }
  void numbers(std::int64_t frame, RecordedFacts& out) const override {
    out.damaged_tiles = static_cast<int>(frame) * 2;
  }
  const shared::FoveaParams& fovea() const override { return fovea_; }
  std::string words() const override { return "as recorded"; }

 private:
  shared::FoveaParams fovea_{2, 3, 1, 1, 4, 0, 0, 0};
};

TEST_F(PlaybackTest, RecordedLook_ReplacesThePipelines) {
  start("test://box?size=64x48&rate=25&frames=10");
  SourceConfig source;
  source.uri = "test://box?size=64x48&rate=25&frames=10";
  FeedConfig config;
  config.source = source;
  auto feed = std::make_unique<Feed>(config);
  ASSERT_NE(feed->peek(), nullptr);
  settings().view = View::kPatches;
  playback_->play({std::move(feed), std::make_shared<const TenLooks>()});
  ASSERT_TRUE(until([this] { return facts().look.recorded && facts().look.plan != nullptr; }));
  settings().paused = true;
  EXPECT_EQ(settings().view, View::kFrame);  // there is nothing but the patches
  seek(0.24);
  const std::int64_t frame = viewer_->frame().sequence;
  EXPECT_EQ(facts().time.frame, frame);
  const float u = static_cast<float>(frame) / 10;
  EXPECT_FLOAT_EQ(facts().look.gaze.u, u);
  EXPECT_EQ(facts().look.fixations.size(), static_cast<std::size_t>(frame) + 1);  // also those that were jumped over
  EXPECT_EQ(facts().look.patches, 3);
  EXPECT_FLOAT_EQ(facts().look.plan->patches[0].x_px, static_cast<float>(frame));
  EXPECT_EQ(facts().step.damaged_tiles, 2 * frame);
  EXPECT_EQ(facts().look.lattice, "as recorded");
  viewer_->fixate(0.1f, 0.1f);
  spin();
  EXPECT_FLOAT_EQ(facts().look.gaze.u, u);
  EXPECT_FALSE(facts().message.empty());
  ViewInput input(*viewer_);
  for (const View view : {View::kLevel, View::kLod, View::kFrame}) {
    input.key(kKeyTab, false, false);
    EXPECT_EQ(settings().view, view);
  }
  settings().view = View::kCompare;
  spin();
  EXPECT_EQ(settings().view, View::kFrame);
}

TEST_F(PlaybackTest, ToTheEnd_ShowsTheLastFrameAndSaysSo) {
  start("test://box?size=64x48&rate=25&frames=5");
  ASSERT_TRUE(play_to_the_end());
  EXPECT_EQ(facts().time.frame, 4);
  EXPECT_EQ(facts().pace.fps_shown, 0);
  EXPECT_EQ(facts().error, "");
}

TEST_F(PlaybackTest, PauseAtTheEnd_BeginsAgainAtOnce) {
  start("test://box?size=64x48&rate=25&frames=5");
  ASSERT_TRUE(play_to_the_end());
  ViewInput(*viewer_).key(kKeySpace, false, false);
  spin();
  EXPECT_FALSE(settings().paused);
  EXPECT_TRUE(until([this] { return facts().time.frame == 0; }));
  EXPECT_TRUE(until([this] { return facts().time.frame >= 2; }, kFrame_ns)) << "it does not play on";
}

TEST_F(PlaybackTest, PausedAtTheEnd_SpaceBeginsAgainToo) {
  start("test://box?size=64x48&rate=25&frames=5");
  ASSERT_TRUE(play_to_the_end());
  viewer_->requests.step = 1;
  spin();
  EXPECT_TRUE(settings().paused);
  ViewInput(*viewer_).key(kKeySpace, false, false);
  EXPECT_TRUE(until([this] { return facts().time.frame == 0 && !settings().paused; }));
}

TEST_F(PlaybackTest, LoopAtTheEnd_BeginsAgain) {
  start("test://box?size=64x48&rate=25&frames=5");
  ASSERT_TRUE(play_to_the_end());
  settings().loop = true;
  EXPECT_TRUE(until([this] { return facts().time.frame == 0; }));
  EXPECT_TRUE(until([this] { return facts().time.frame == 4; }, kFrame_ns));
  EXPECT_TRUE(until([this] { return facts().time.frame < 4; }, kFrame_ns)) << "no second round";
}

TEST_F(PlaybackTest, FrameNumber_IsByTimeAfterAnySeek) {
  settings().paused = true;
  seek(5);
  EXPECT_EQ(facts().time.frame, 125);
  viewer_->requests.step = -1;
  ASSERT_TRUE(until([this] { return shown() == 124 * kFrame_ns; }));
  EXPECT_EQ(facts().time.frame, 124);
  viewer_->requests.step = 1;
  ASSERT_TRUE(until([this] { return shown() == 125 * kFrame_ns; }));
  EXPECT_EQ(facts().time.frame, 125);
  seek(0);
  EXPECT_EQ(facts().time.frame, 0);
  seek(9.96);
  EXPECT_EQ(facts().time.frame, 249);
}

TEST_F(PlaybackTest, LateFrames_AreDroppedAndNumbered) {
  now_ns_ += 10 * kFrame_ns;  // nobody looked for so long
  ASSERT_TRUE(until([this] { return facts().pace.dropped_late > 0; }, kFrame_ns));
  EXPECT_EQ(facts().time.frame, shown() / kFrame_ns);
}

TEST_F(PlaybackTest, PausedRedraw_IsNoFrame) {
  facts().offscreen = false;  // so that times are taken
  settings().paused = true;
  spin();
  ASSERT_TRUE(until([this] { return facts().time.frame >= 0; }));
  const ViewFacts before = facts();
  settings().pipeline.diff.threshold = 9;
  set_fovea(settings().pipeline, 3, 3);
  spin();
  EXPECT_EQ(facts().look.solved_e0, 3);  // it was worked on
  EXPECT_EQ(facts().step.counters.frames, before.step.counters.frames);
  EXPECT_EQ(facts().step.counters.tiles, before.step.counters.tiles);
  EXPECT_EQ(facts().step.damaged_tiles, before.step.damaged_tiles);
  EXPECT_EQ(facts().pace.frame_ms.count, before.pace.frame_ms.count);
  EXPECT_EQ(facts().pace.work_ms.count, before.pace.work_ms.count);
  EXPECT_EQ(facts().pace.fps_shown, 0);
}

TEST_F(PlaybackTest, AnotherSource_BeginsAllAgainButSettings) {
  facts().offscreen = false;
  ASSERT_TRUE(until([this] { return facts().step.counters.frames >= 5; }, kFrame_ns));
  facts().pace.dropped_late = 7;
  facts().error = "broken";
  settings().pipeline.diff.threshold = 3;
  playback_->open_file("test://static?size=32x32&rate=5&frames=9");
  ASSERT_TRUE(until([this] { return facts().step.tiles == 4; }));
  EXPECT_EQ(facts().step.counters.frames, 1);
  EXPECT_EQ(facts().step.counters.tiles, 4);
  EXPECT_EQ(facts().time.frame, 0);
  EXPECT_EQ(facts().pace.dropped_late, 0);
  EXPECT_LE(facts().pace.work_ms.count, 1U);
  EXPECT_EQ(facts().pace.frame_ms.count, 0U);
  EXPECT_EQ(facts().pace.fps_source, 5);
  EXPECT_EQ(facts().error, "");
  for (const StageTimes& stage : facts().cost.whole) EXPECT_LE(stage.count, 1) << name(stage.stage);
  for (const StageTimes& stage : facts().cost.recent) EXPECT_LE(stage.count, 1) << name(stage.stage);
  EXPECT_EQ(settings().pipeline.diff.threshold, 3);
}

TEST_F(PlaybackTest, LostStream_SaysWhichTryThenWhy) {
  auto made = std::make_unique<LostSource>(3);
  LostSource& source = *made;
  start(std::move(made));
  source.set_link({true, 2, 5, "nothing came for 3 s"});
  ASSERT_TRUE(until([this] { return !facts().state.empty(); }, kFrame_ns));
  EXPECT_EQ(facts().state, "lost, try 2 of 5 (nothing came for 3 s)");
  EXPECT_TRUE(playback_->take_redraw());
  source.set_link({});
  ASSERT_TRUE(until([this] { return facts().state == "waiting for the stream ..."; }, kFrame_ns));
  source.finish();
  ASSERT_TRUE(play_to_the_end());
  EXPECT_EQ(facts().error, "rtsp://camera/door: lost: nothing came for 3 s, and 5 tries to reconnect failed");
  EXPECT_EQ(facts().state, "");
}

TEST_F(PlaybackTest, RateThatIsNotKnown_IsMeasured) {
  EXPECT_EQ(facts().pace.fps_source, 25);
  auto made = std::make_unique<LostSource>(20);
  made->forget_rate();
  LostSource& source = *made;
  start(std::move(made));
  source.finish();
  ASSERT_TRUE(play_to_the_end());
  EXPECT_NEAR(facts().pace.fps_source, 25, 0.01);
  EXPECT_NEAR(facts().pace.budget_ms, 40, 0.1);
}

TEST_F(PlaybackTest, WhatCantBeSought_SaysSoAtTheEnd) {
  auto made = std::make_unique<LostSource>(3);
  LostSource& source = *made;
  start(std::move(made));
  source.finish();
  ASSERT_TRUE(play_to_the_end());
  ViewInput(*viewer_).key(kKeySpace, false, false);
  spin();
  EXPECT_NE(facts().message, "");
  EXPECT_TRUE(facts().time.ended);
}

TEST_F(PlaybackTest, SourceThatCantBeOpened_LeavesTheOld) {
  playback_->open_file("no such file.mp4");
  spin();
  EXPECT_TRUE(until([this] { return facts().message.find("no such file.mp4") != std::string::npos; }, kFrame_ns));
  EXPECT_TRUE(until([this] { return facts().time.frame >= 20; }, kFrame_ns));
  EXPECT_EQ(facts().error, "");
}

TEST_F(PlaybackTest, Message_GoesAwayAfterAWhile) {
  playback_->say("saved");
  spin();
  EXPECT_EQ(facts().message, "saved");
  now_ns_ += 10'000'000'000;
  spin();
  EXPECT_EQ(facts().message, "");
}

TEST_F(PlaybackTest, Paused_WaitsForEver) {
  settings().paused = true;
  ASSERT_TRUE(until([this] { return facts().time.frame >= 0; }));
  spin();
  EXPECT_LT(playback_->wait_s(), 0);
}

TEST_F(PlaybackTest, Reset_BringsEverythingBack) {
  ViewInput input(*viewer_);
  for (const char key : std::string("mokbnl]3")) input.key(static_cast<Key>(key), false, false);
  settings().vsync = false;
  settings().zoom = 2;
  settings().split = 0.1f;
  viewer_->fixate(0.25f, 0.25f);
  settings().pipeline.diff.threshold = 9;
  viewer_->requests.reset_settings = true;
  spin();
  const ViewSettings fresh;
  EXPECT_EQ(settings().view, fresh.view);
  EXPECT_EQ(settings().level, fresh.level);
  EXPECT_EQ(settings().marks, fresh.marks);
  EXPECT_EQ(settings().outlines, fresh.outlines);
  EXPECT_EQ(settings().scanpath, fresh.scanpath);
  EXPECT_EQ(settings().boxes, fresh.boxes);
  EXPECT_EQ(settings().linear, fresh.linear);
  EXPECT_EQ(settings().loop, fresh.loop);
  EXPECT_EQ(settings().vsync, fresh.vsync);
  EXPECT_EQ(settings().speed, fresh.speed);
  EXPECT_EQ(settings().zoom, fresh.zoom);
  EXPECT_EQ(settings().split, fresh.split);
  EXPECT_EQ(settings().pipeline.diff, fresh.pipeline.diff);
  EXPECT_EQ(settings().pipeline.scanpath, fresh.pipeline.scanpath);
}

TEST_F(PlaybackTest, Boxes_AreForAModelThatHasNothingYet) {
  settings().paused = true;
  const auto is_sent_again = [this] {
    spin();
    const auto& last = facts().views.last;
    return !last.empty() && last.front().reason == ViewReason::kOverview &&
           facts().views.images == static_cast<std::int64_t>(last.size());
  };
  ViewInput input(*viewer_);
  input.key('b', false, false);
  EXPECT_TRUE(is_sent_again());
  const std::int64_t tokens = facts().views.tokens;
  spin();
  EXPECT_EQ(facts().views.tokens, tokens);  // once a look
  settings().views.model = "qwen3-vl";
  EXPECT_TRUE(is_sent_again());
  input.key('b', false, false);
  spin();
  EXPECT_TRUE(facts().views.last.empty());
  input.key('b', false, false);
  EXPECT_TRUE(is_sent_again());
}

TEST_F(PlaybackTest, Note_GoesAwayAndComesAgain) {
  settings().paused = true;
  ViewInput input(*viewer_);
  for (const char* note : {"loop on", "loop off", "loop on"}) {
    input.key('l', false, false);
    spin();
    EXPECT_EQ(facts().note, note);
    EXPECT_GE(playback_->wait_s(), 0);
    EXPECT_TRUE(until([this] { return facts().note.empty(); }, kFrame_ns));
  }
}

// Each place is shown, though the next is asked for before.
TEST_F(PlaybackTest, SeeksInARow_ShowFramesOnTheWay) {
  int shows = 0;
  std::int64_t last = -1;
  constexpr int kMost = 2000;  // the thread that seeks may get little of a busy machine
  for (int n = 1; n <= 20 || (shows <= 2 && n < kMost); ++n) {
    viewer_->requests.seek_pts_ns = facts().time.start_pts_ns + (1 + (n - 1) % 20) * 10 * kFrame_ns;
    viewer_->requests.scrubbing = true;
    spin();
    for (int wait = 0; wait < 5; ++wait) {
      viewer_->requests.scrubbing = true;
      spin();
      shows += facts().time.frame != last ? 1 : 0;
      last = facts().time.frame;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  viewer_->requests.seek_pts_ns = facts().time.start_pts_ns + 200 * kFrame_ns;
  EXPECT_TRUE(until([this] {
    viewer_->requests.scrubbing = true;
    return facts().time.frame == 200;
  }));
  EXPECT_GT(shows, 2);
}

}  // namespace
}  // namespace saccade::ui
