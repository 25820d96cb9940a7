// A viewer that plays without a window and without waiting: the clock is the test's.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/required.h"
#include "tests/ui/shared_context.h"
#include "ui/viewer/playback.h"

namespace saccade::ui {

inline constexpr std::int64_t kFrame_ns = 40'000'000;  // of 25 a second
inline constexpr auto kBox = "test://box?size=64x48&rate=25&frames=250";

class PlaybackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (shared_context() == nullptr) {
      testing::skip_or_fail("gl", "no OpenGL context");
      return;
    }
    start(kBox);
  }
  void start(const std::string& uri) {
    playback_.reset();
    viewer_ = nullptr;  // one at a time
    viewer_ = std::make_unique<Viewer>(*shared_context(), ViewSettings{}, Surface::kPictures, Log{});
    PlaybackConfig config;
    config.source.uri = uri;
    config.clock_ns = [this] { return now_ns_; };
    playback_ = std::make_unique<Playback>(*viewer_, config, [] {});
    playback_->open();
    ASSERT_TRUE(until([this] { return viewer_->has_frame(); }));
  }
  void start(std::unique_ptr<FrameSource> source) {
    FeedConfig config;
    auto feed = std::make_unique<Feed>(std::move(source), config);
    ASSERT_NE(feed->peek(), nullptr);
    playback_->play({std::move(feed), nullptr});
    ASSERT_TRUE(until([this] { return facts().stream->live && viewer_->has_frame(); }));
  }

  // One round of the window's loop.
  void spin() {
    if (!playback_->advance()) viewer_->refresh();
    playback_->refresh_facts();
    playback_->take(std::exchange(viewer_->requests, ViewRequests{}));
    playback_->apply_settings();
    playback_->expire_texts();
  }
  // Rounds until it is so; the clock goes on by `step_ns` a round. The threads behind need a moment.
  bool until(const std::function<bool()>& so, std::int64_t step_ns = 0) {
    for (int rounds = 0; rounds < 20'000; ++rounds) {
      spin();
      if (so()) return true;
      now_ns_ += step_ns;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  bool play_to_the_end() {
    return until([this] { return facts().time.ended; }, kFrame_ns);
  }
  ViewFacts& facts() { return viewer_->facts; }
  ViewSettings& settings() { return viewer_->settings; }
  void seek(double t_s) {
    viewer_->requests.seek_pts_ns = facts().time.start_pts_ns + std::llround(t_s * 1e9);
    spin();
    ASSERT_TRUE(until([&] { return shown() == std::llround(t_s * 1e9); })) << shown();
  }
  std::int64_t shown() { return facts().time.pts_ns - facts().time.start_pts_ns; }

  std::int64_t now_ns_ = 1'000'000'000'000;
  std::unique_ptr<Viewer> viewer_;
  std::unique_ptr<Playback> playback_;
};

}  // namespace saccade::ui
