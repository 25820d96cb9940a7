// How sessions end, and what a broken, silent or live source makes of them.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/clock.h"
#include "pipeline/run/session.h"
#include "tests/pipeline/run/scripted_source.h"

namespace saccade::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPromptly = std::chrono::seconds(5);  // under any load; without an interrupt it would be for ever

SessionConfig every_frame() {
  SessionConfig config;
  config.pipeline.lattice.shape = PatchBudget{100, {}};
  config.pipeline.emit = {EmitPolicy::Kind::kFrames, 1};
  return config;
}

std::unique_ptr<Session> play(Script script, const SessionConfig& config = every_frame()) {
  return std::make_unique<Session>(config, std::make_unique<ScriptedSource>(std::move(script)));
}

// The last step of a session, and how many frames came before it.
std::pair<SessionStep, std::int64_t> run_out(Session& session) {
  Emission emission;
  std::int64_t frames = 0;
  SessionStep step = session.next(emission);
  for (; step.status == SessionStatus::kEmission || step.status == SessionStatus::kFrame; ++frames) {
    step = session.next(emission);
  }
  return {step, frames};
}

template <typename Work>
ErrorKind error_of(Work work, std::string& what) {
  try {
    work();
  } catch (const Error& error) {
    what = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "no Error";
  return ErrorKind::kOutput;
}

// A server that takes a connection and says nothing.
class SilentServer {
 public:
  SilentServer() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    const auto address = [&] { return reinterpret_cast<sockaddr*>(&at); };
    if (bind(fd_, address(), size) != 0 || listen(fd_, 4) != 0 || getsockname(fd_, address(), &size) != 0) {
      throw std::runtime_error("no socket to listen on");
    }
    port_ = ntohs(at.sin_port);
  }
  ~SilentServer() { close(fd_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  std::string uri() const { return "tcp://127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM, 0);
  int port_ = 0;
};

TEST(Session, InterruptWhileOpening_EndsPromptly) {
  const SilentServer server;
  SessionConfig config = every_frame();
  config.source.uri = server.uri();
  config.source.live.open_timeout_s = 0;  // for ever
  config.source.stop = std::make_shared<std::atomic<bool>>(false);
  const auto begin = Clock::now();
  std::thread other([stop = config.source.stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    *stop = true;
  });
  std::string what;
  EXPECT_EQ(error_of([&] { const Session session(config); }, what), ErrorKind::kInterrupted) << what;
  other.join();
  EXPECT_LT(Clock::now() - begin, kPromptly);
}

TEST(Session, InterruptBeforeTheFirstFrame_IsAnError) {
  const auto session = play({.then = Script::Then::kWait, .frames = 0});
  std::thread other([&] { session->interrupt(); });
  std::string what;
  EXPECT_EQ(error_of([&] { session->start(); }, what), ErrorKind::kInterrupted);
  EXPECT_NE(what.find("before the first frame"), std::string::npos) << what;
  other.join();
}

TEST(Session, InterruptMidStream_EndsPromptly) {
  const auto session = play({.then = Script::Then::kWait, .frames = 5});
  Emission emission;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(session->next(emission).status, SessionStatus::kEmission);
  const auto begin = Clock::now();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    session->interrupt();
  });
  EXPECT_EQ(session->next(emission).status, SessionStatus::kInterrupted);
  other.join();
  session->stop();
  EXPECT_LT(Clock::now() - begin, kPromptly);
  const SessionFacts facts = session->facts();
  EXPECT_EQ(facts.pipeline.frames, 5);
  EXPECT_TRUE(facts.fault.what.empty()) << "an interrupt is no fault of the stream";
}

TEST(Feed, ReadyWithin_WaitsForAFrameOrTheEnd) {
  Feed feed(std::make_unique<ScriptedSource>(Script{.then = Script::Then::kWait, .frames = 1}), FeedConfig{});
  EXPECT_TRUE(feed.ready_within(kPromptly));
  Frame frame;
  ASSERT_EQ(feed.wait(frame), PollStatus::kFrame);
  EXPECT_FALSE(feed.ready_within(std::chrono::milliseconds(10)));
  EXPECT_FALSE(feed.ready_within(std::chrono::milliseconds(-10)));
  EXPECT_EQ(feed.poll(frame), PollStatus::kLater);
  feed.interrupt();
  EXPECT_TRUE(feed.ready_within(kPromptly));
  EXPECT_EQ(feed.wait(frame), PollStatus::kEnd);
}

TEST(Session, StopToken_EndsReadingToo) {
  SessionConfig config = every_frame();
  config.source.uri = "test://box?size=64x64&frames=1000000";
  config.source.stop = std::make_shared<std::atomic<bool>>(false);
  Session session(config);
  Emission emission;
  ASSERT_EQ(session.next(emission).status, SessionStatus::kEmission);
  *config.source.stop = true;
  const auto begin = Clock::now();
  EXPECT_EQ(run_out(session).first.status, SessionStatus::kInterrupted);
  EXPECT_LT(Clock::now() - begin, kPromptly);
}

TEST(Session, InterruptAtTheEnd_KeepsWhatCame) {
  const auto session = play({.frames = 7});
  const auto [last, frames] = run_out(*session);
  EXPECT_EQ(last.status, SessionStatus::kEnd);
  EXPECT_EQ(frames, 7);
  session->interrupt();
  Emission emission;
  EXPECT_EQ(session->next(emission).status, SessionStatus::kInterrupted);
  EXPECT_EQ(session->facts().source.frames, 7);
}

TEST(Session, DestroyedWhileTheSourceWaits_EndsPromptly) {
  const auto begin = Clock::now();
  for (const std::int64_t frames : {0, 3}) {
    const auto session = play({.then = Script::Then::kWait, .frames = frames});
    if (frames > 0) session->start();
  }
  EXPECT_LT(Clock::now() - begin, kPromptly);
}

TEST(Session, NoFrameInTheRange_IsBadInput) {
  for (const auto& script : {Script{.frames = 0}, Script{.then = Script::Then::kThrow, .frames = 0}}) {
    const auto session = play(script);
    std::string what;
    EXPECT_EQ(error_of([&] { session->start(); }, what), ErrorKind::kInput);
    EXPECT_EQ(what.find(script.uri), script.then == Script::Then::kEnd ? 0U : std::string::npos) << what;
    Emission emission;
    EXPECT_EQ(error_of([&] { session->next(emission); }, what), ErrorKind::kInput) << "and again";
  }
}

TEST(Session, FailingBeforeTheFirstFrame_ThrowsTheSourcesError) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kUnavailable}) {
    const auto session = play({.then = Script::Then::kFail, .frames = 0, .error_kind = kind});
    std::string what;
    EXPECT_EQ(error_of([&] { session->start(); }, what), kind);
    EXPECT_EQ(what, "scripted: broken");
  }
}

TEST(Session, FailingMidStream_KeepsWhatCame) {
  const auto session = play({.then = Script::Then::kFail, .frames = 9, .error_kind = ErrorKind::kUnavailable});
  const auto [last, frames] = run_out(*session);
  EXPECT_EQ(last.status, SessionStatus::kFailed);
  EXPECT_EQ(frames, 9);
  session->stop();
  const SessionFacts facts = session->facts();
  EXPECT_EQ(facts.fault.what, "scripted: broken");
  EXPECT_EQ(facts.fault.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(facts.fault.hint, Hint::kAllowNetwork);
  EXPECT_EQ(facts.source.frames, 9);
}

TEST(Session, ThrowingSource_FailsAndIsLogged) {
  std::mutex mutex;
  std::vector<std::string> lines;
  SessionConfig config = every_frame();
  config.log = Log([&](LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::kError) lines.emplace_back(line);
  });
  const auto session = play({.then = Script::Then::kThrow, .frames = 2}, config);
  EXPECT_EQ(run_out(*session).first.status, SessionStatus::kFailed);
  EXPECT_EQ(session->facts().fault.what, "the reader fell over");
  EXPECT_EQ(lines, std::vector<std::string>{"decode thread: the reader fell over"});
}

TEST(Session, MemoryThatIsUsedUp_IsNoDamagedInput) {
  const auto session = play({.then = Script::Then::kUseUpMemory, .frames = 2});
  const auto [last, frames] = run_out(*session);
  EXPECT_EQ(last.status, SessionStatus::kFailed);
  EXPECT_EQ(frames, 2);
  session->stop();
  const SessionFacts facts = session->facts();
  EXPECT_EQ(facts.fault.kind, ErrorKind::kMemory) << facts.fault.what;
  EXPECT_FALSE(facts.damaged());

  const auto at_once = play({.then = Script::Then::kUseUpMemory, .frames = 0});
  std::string what;
  EXPECT_EQ(error_of([&] { at_once->start(); }, what), ErrorKind::kMemory);
  EXPECT_EQ(what, "out of memory");
}

// 30 frames, interrupted before frame 10 and frame 20 for a second each.
Script live_script() {
  Script script;
  script.live = true;
  script.frames = 30;
  script.change = [](Frame& frame) {
    const auto gaps = static_cast<std::int32_t>(frame.view().sequence / 10);
    const FrameView view = frame.view();
    const std::int64_t now_ns = steady_now_ns();
    AvFramePtr picture = frame.release();
    attach_origin(*picture, {now_ns - 5'000'000, now_ns, CaptureClock::kDriver, gaps});
    frame = Frame(std::move(picture), {view.layout, view.shift, view.color, view.sar}, view.pts_ns, view.sequence);
    frame.place(view.pts_ns + gaps * std::int64_t{1'000'000'000}, view.sequence, gaps);
  };
  return script;
}

TEST(Session, AfterAGap_EverythingIsNew) {
  SessionConfig config = every_frame();
  config.policy = QueuePolicy::kBlock;
  const auto session = play(live_script(), config);
  Emission emission;
  for (std::int64_t i = 0; i < 30; ++i) {
    const SessionStep step = session->next(emission);
    ASSERT_EQ(step.status, SessionStatus::kEmission);
    const bool is_new = i % 10 == 0;
    EXPECT_EQ(step.after_gap, is_new && i > 0) << i;
    EXPECT_EQ(step.result.damaged_tiles == session->pipeline().damage().grid().count(), is_new) << i;
    EXPECT_EQ(step.result.gaze.fixation == 0 && step.result.gaze.landed, is_new) << i;
    EXPECT_EQ(emission.gaps, i / 10);
  }
  EXPECT_EQ(session->next(emission).status, SessionStatus::kEnd);
  const SessionFacts facts = session->facts();
  ASSERT_EQ(facts.gaps.size(), 2U);
  EXPECT_EQ(facts.gaps[0].frame, 10);
  EXPECT_EQ(facts.gaps[0].emission, 10);
  EXPECT_EQ(facts.gaps[1].frame, 20);
  EXPECT_NEAR(facts.gaps[1].length_s, 1 + 1.0 / 30, 1e-6);
  EXPECT_EQ(facts.live.gaps(), 2);
}

TEST(Session, LiveEmission_TellsItsAge) {
  SessionConfig config = every_frame();
  config.pipeline.wait_for_patches = false;  // which a live source overrides
  const auto session = play(live_script(), config);
  Emission emission;
  const std::int64_t begin_ns = steady_now_ns();
  ASSERT_EQ(session->next(emission).status, SessionStatus::kEmission);
  const std::int64_t unix_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GE(emission.age_ns, 5'000'000);
  EXPECT_LT(std::abs(unix_ns - emission.captured_unix_ns), steady_now_ns() - begin_ns + std::int64_t{60'000'000'000});
  EXPECT_TRUE(session->pipeline().config().wait_for_patches);
  EXPECT_EQ(session->feed().policy(), QueuePolicy::kLatest);
  EXPECT_EQ(session->feed().capacity(), 2U);
  EXPECT_EQ(session->live().clock(), CaptureClock::kDriver);
}

TEST(Session, LiveSource_HasAThresholdOfItsOwnUnlessOneIsGiven) {
  SessionConfig config = every_frame();
  config.pipeline.diff.threshold = 3;
  EXPECT_EQ(play({}, config)->pipeline().config().diff.threshold, 3);
  EXPECT_EQ(play(live_script(), config)->pipeline().config().diff.threshold, 8);
  config.threshold_given = true;
  EXPECT_EQ(play(live_script(), config)->pipeline().config().diff.threshold, 3);
}

TEST(Session, LatestPolicy_CountsWhatItDropped) {
  SessionConfig config = every_frame();
  config.policy = QueuePolicy::kLatest;
  const auto session = play({.uri = "test://box?size=64x64&frames=2000", .frames = 2000}, config);
  const auto [last, frames] = run_out(*session);
  EXPECT_EQ(last.status, SessionStatus::kEnd);
  const SessionFacts facts = session->facts();
  EXPECT_EQ(facts.pipeline.frames, frames);
  EXPECT_EQ(facts.queue.dropped_stale + frames, 2000);
}

}  // namespace
}  // namespace saccade::test
