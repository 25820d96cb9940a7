// A live stream made of several connections: what adds up, what goes on, and when it is over.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/clock.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/live/live_source.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFrame = kSecond / 25;

// One connection: so many frames from a time on, then its end. `counters` are what it has counted by then.
struct Script {
  std::int64_t frames = 0;
  std::int64_t first_pts_ns = 0;
  SourceCounters counters;
  StreamEnd end;
  HwDecode hwdec = HwDecode::kNo;
  std::int64_t arrived_ns = 0;  // of the first frame
};

class FakeConnection final : public FrameSource {
 public:
  explicit FakeConnection(Script script) : script_(std::move(script)) { info_.hwdec = script_.hwdec; }
  ReadStatus next(Frame& out) override {
    if (counters_.frames == script_.frames) return ReadStatus::kEnd;
    const std::int64_t number = counters_.frames;
    counters_ = script_.counters;
    counters_.frames = number + 1;
    AvFramePtr picture = empty_frames_.take();
    const std::int64_t at_ns = script_.arrived_ns + number * kFrame;
    attach_origin(*picture, {at_ns, at_ns, CaptureClock::kArrival, 0});
    out = Frame(std::move(picture), PictureFormat{}, script_.first_pts_ns + number * kFrame, number);
    return ReadStatus::kOk;
  }
  StreamEnd end() const override { return script_.end; }
  void interrupt() override {}
  void recycle(Frame frame) override { empty_frames_.give(frame.release()); }

 private:
  const Script script_;
  EmptyFrames empty_frames_;
};

struct Outcome {
  std::vector<FrameView> views;
  std::vector<FrameOrigin> origins;
  SourceCounters counters;
  StreamEnd end;
  std::size_t opened = 1;
};

// The connections one after another; an error to connect where there are no more.
Outcome follow(std::deque<Script> scripts, SourceConfig config = {}, bool may_return = true) {
  Outcome outcome;
  config.uri = "rtsp://fake";
  config.live.reconnect = 1;
  const auto open = [&](const SourceConfig&) -> std::unique_ptr<FrameSource> {
    ++outcome.opened;
    if (scripts.empty()) throw InputError("nobody answers");
    Script script = std::move(scripts.front());
    scripts.pop_front();
    return std::make_unique<FakeConnection>(std::move(script));
  };
  auto first = std::make_unique<FakeConnection>(scripts.front());
  scripts.pop_front();
  const auto source = follow_connections(config, connection_config(config), std::move(first), open, may_return);
  Frame frame;
  ReadStatus status = ReadStatus::kOk;
  while (status == ReadStatus::kOk || status == ReadStatus::kAgain) {
    status = source->next(frame);
    if (status != ReadStatus::kOk) continue;
    outcome.views.push_back(frame.view());
    outcome.origins.push_back(frame.origin());
  }
  EXPECT_EQ(status, ReadStatus::kEnd);
  outcome.counters = source->counters();
  outcome.end = source->end();
  return outcome;
}

Script broken(std::int64_t frames) {
  Script script;
  script.frames = frames;
  script.end = {true, "the sender fell silent"};
  script.counters.truncated = true;
  return script;
}

// Each counter its own number, times `factor`, so that a forgotten one shows.
SourceCounters numbered(std::int64_t factor) {
  SourceCounters counters;
  counters.packets_corrupt = 1 * factor;
  counters.frames_corrupt = 2 * factor;
  counters.pts_made_up = 3 * factor;
  counters.pts_not_rising = 4 * factor;
  counters.format_changes = 5 * factor;
  counters.frames_off_device = 6 * factor;
  counters.packets_late = 7 * factor;
  counters.late_ns = 8 * factor;
  counters.packets_lost = 9 * factor;
  counters.segments_lost = 10 * factor;
  return counters;
}

TEST(LiveSource, CountersOfConnections_AddUp) {
  Script first = broken(3), second = broken(2);
  first.hwdec = second.hwdec = HwDecode::kCuda;
  first.counters = numbered(1);
  second.counters = numbered(10);
  first.counters.truncated = second.counters.truncated = true;
  const Outcome outcome = follow({first, second});
  const SourceCounters& got = outcome.counters;
  EXPECT_EQ(got.frames, 5);
  EXPECT_EQ(got.packets_corrupt, 11);
  EXPECT_EQ(got.frames_corrupt, 22);
  EXPECT_EQ(got.pts_made_up, 33);
  EXPECT_EQ(got.pts_not_rising, 44);
  EXPECT_EQ(got.format_changes, 55);
  EXPECT_EQ(got.frames_off_device, 66);
  EXPECT_EQ(got.packets_late, 77);
  EXPECT_EQ(got.late_ns, 88);
  EXPECT_EQ(got.packets_lost, 99);
  EXPECT_EQ(got.segments_lost, 110);
  EXPECT_EQ(got.gaps, 1);
  EXPECT_GT(got.gaps_ns, 0);
  EXPECT_TRUE(got.truncated);  // nobody answered a third time
}

TEST(LiveSource, ConnectionThatReturnsOffTheDevice_CountsItsFrames) {
  Script first = broken(3), second = broken(2);
  first.hwdec = HwDecode::kCuda;
  EXPECT_EQ(follow({first, second}).counters.frames_off_device, 2);
  first.hwdec = HwDecode::kNo;
  EXPECT_EQ(follow({first, second}).counters.frames_off_device, 0);
}

TEST(LiveSource, ConnectionThatReturns_GoesOnInTimeAndNumber) {
  Script first = broken(3), second = broken(2);
  first.first_pts_ns = 7 * kSecond;
  second.arrived_ns = 10 * kSecond;  // 10 s - 2 frames after the last one
  const Outcome outcome = follow({first, second});
  ASSERT_EQ(outcome.views.size(), 5U);
  const std::int64_t last_ns = 7 * kSecond + 2 * kFrame;
  EXPECT_EQ(outcome.views[2].pts_ns, last_ns);
  EXPECT_EQ(outcome.views[3].pts_ns, last_ns + 10 * kSecond - 2 * kFrame);
  EXPECT_EQ(outcome.views[4].pts_ns, outcome.views[3].pts_ns + kFrame);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(outcome.views[i].sequence, static_cast<std::int64_t>(i));
    EXPECT_EQ(outcome.origins[i].gaps, i < 3 ? 0 : 1);
    EXPECT_EQ(outcome.origins[i].arrived_ns,
              i < 3 ? static_cast<std::int64_t>(i) * kFrame : 10 * kSecond + static_cast<std::int64_t>(i - 3) * kFrame);
  }
  EXPECT_EQ(outcome.counters.gaps_ns, 10 * kSecond - 2 * kFrame);
}

TEST(LiveSource, LostConnection_SaysWhichTryIsUnderWay) {
  SourceConfig config;
  config.uri = "rtsp://fake";
  config.live.reconnect = 3;
  const FrameSource* source = nullptr;
  std::vector<LinkState> links;
  const auto open = [&](const SourceConfig&) -> std::unique_ptr<FrameSource> {
    links.push_back(source->link());
    if (links.size() == 1) throw InputError("nobody answers");
    return std::make_unique<FakeConnection>(Script{.frames = 2, .counters = {}, .end = {}});
  };
  auto first =
      std::make_unique<FakeConnection>(Script{.frames = 2, .counters = {}, .end = {true, "the cable was pulled"}});
  const auto followed = follow_connections(config, connection_config(config), std::move(first), open, true);
  source = followed.get();
  EXPECT_FALSE(source->link().lost);
  Frame frame;
  for (int frames = 0; frames < 3;) {
    const ReadStatus status = followed->next(frame);
    ASSERT_TRUE(status == ReadStatus::kOk || status == ReadStatus::kAgain);
    frames += status == ReadStatus::kOk ? 1 : 0;
  }
  ASSERT_EQ(links.size(), 2U);
  for (std::size_t i = 0; i < links.size(); ++i) {
    EXPECT_TRUE(links[i].lost);
    EXPECT_EQ(links[i].tries, static_cast<int>(i) + 1);
    EXPECT_EQ(links[i].most_tries, 3);
    EXPECT_EQ(links[i].reason, "the cable was pulled");
  }
  EXPECT_FALSE(source->link().lost);
}

TEST(LiveSource, CameraThatIsPulled_IsTheEnd) {
  const Outcome outcome = follow({broken(3), broken(2)}, {}, false);
  EXPECT_EQ(outcome.views.size(), 3U);
  EXPECT_EQ(outcome.opened, 1U);
  EXPECT_TRUE(outcome.end.broke);
  EXPECT_TRUE(outcome.counters.truncated);
}

TEST(LiveSource, PartOfTheStream_SpansConnections) {
  SourceConfig config;
  config.start_s = 0.08;
  config.max_frames = 2;
  Script first = broken(3), second = broken(5);
  second.first_pts_ns = 3 * kFrame;
  second.arrived_ns = 3 * kFrame;
  const Outcome outcome = follow({first, second}, config);
  ASSERT_EQ(outcome.views.size(), 2U);
  EXPECT_EQ(outcome.views[0].pts_ns, 2 * kFrame);
  EXPECT_EQ(outcome.views[0].sequence, 0);
  EXPECT_EQ(outcome.views[1].pts_ns, 3 * kFrame);
  EXPECT_EQ(outcome.counters.frames, 2);
}

TEST(SourceCounters, Sum_HasEitherOnesTruncation) {
  SourceCounters sum, cut;
  cut.truncated = true;
  sum += cut;
  EXPECT_TRUE(sum.truncated);
  sum += SourceCounters{};
  EXPECT_TRUE(sum.truncated);
}

}  // namespace
}  // namespace saccade
