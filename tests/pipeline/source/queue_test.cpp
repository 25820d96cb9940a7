// FrameQueue and DecodeThread: order, policies, counters, and shutdown from every state.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pipeline/run/decode_thread.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

Frame numbered(std::int64_t sequence) {
  static EmptyFrames empty_frames;
  return {empty_frames.take(), PictureFormat{}, 0, sequence};
}

TEST(FrameQueue, Block_GivesEveryFrameInOrder) {
  FrameQueue queue(3, QueuePolicy::kBlock);
  std::thread producer([&] {
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(queue.push(numbered(i)));
    queue.close();
  });
  Frame frame;
  std::int64_t next = 0;
  while (queue.pop(frame)) EXPECT_EQ(frame.view().sequence, next++);
  producer.join();
  EXPECT_EQ(next, 500);
  const QueueCounters counters = queue.counters();
  EXPECT_EQ(counters.pushed, 500);
  EXPECT_EQ(counters.popped, 500);
  EXPECT_EQ(counters.dropped_stale + counters.dropped_closed, 0);
}

TEST(FrameQueue, Latest_ReplacesTheOldest) {
  FrameQueue queue(2, QueuePolicy::kLatest);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.push(numbered(i)));
  EXPECT_EQ(queue.size(), 2U);
  queue.close();
  Frame frame;
  ASSERT_TRUE(queue.pop(frame));
  EXPECT_EQ(frame.view().sequence, 3);
  ASSERT_TRUE(queue.pop(frame));
  EXPECT_EQ(frame.view().sequence, 4);
  EXPECT_FALSE(queue.pop(frame));
  EXPECT_EQ(queue.counters().pushed, 5);
  EXPECT_EQ(queue.counters().dropped_stale, 3);
}

TEST(FrameQueue, Close_LetsWaitingFramesOut) {
  FrameQueue queue(4, QueuePolicy::kBlock);
  queue.push(numbered(0));
  queue.push(numbered(1));
  queue.close();
  EXPECT_FALSE(queue.push(numbered(2)));
  Frame frame;
  EXPECT_TRUE(queue.pop(frame));
  EXPECT_TRUE(queue.pop(frame));
  EXPECT_FALSE(queue.pop(frame));
  EXPECT_EQ(queue.counters().dropped_closed, 1);
}

TEST(FrameQueue, CloseNow_DropsAndCounts) {
  FrameQueue queue(4, QueuePolicy::kBlock);
  queue.push(numbered(0));
  queue.push(numbered(1));
  queue.close_now();
  Frame frame;
  EXPECT_FALSE(queue.pop(frame));
  EXPECT_FALSE(queue.push(numbered(2)));
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.counters().dropped_closed, 3);
}

TEST(FrameQueue, CloseNow_WakesBothSides) {
  FrameQueue full(1, QueuePolicy::kBlock);
  full.push(numbered(0));
  std::thread producer([&] { EXPECT_FALSE(full.push(numbered(1))); });
  FrameQueue empty(1, QueuePolicy::kBlock);
  std::thread consumer([&] {
    Frame frame;
    EXPECT_FALSE(empty.pop(frame));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  full.close_now();
  empty.close_now();
  producer.join();
  consumer.join();
  EXPECT_EQ(full.counters().dropped_closed, 2);
}

std::unique_ptr<FrameSource> open_test(const std::string& uri, std::int64_t loops = 0) {
  SourceConfig config;
  config.uri = uri;
  config.loops = loops;
  return open_source(config);
}

TEST(DecodeThread, EndOfSource_ClosesAfterEveryFrame) {
  const auto source = open_test("test://box?size=64x48&frames=40");
  FrameQueue queue(4, QueuePolicy::kBlock);
  DecodeThread thread(*source, queue);
  Frame frame;
  std::int64_t count = 0;
  while (queue.pop(frame)) EXPECT_EQ(frame.view().sequence, count++);
  thread.join();
  EXPECT_EQ(count, 40);
  EXPECT_FALSE(thread.failed());
  EXPECT_EQ(thread.times().count(), 40);
}

TEST(DecodeThread, StoppedWhileTheQueueIsFull_Ends) {
  const auto source = open_test("test://noise?size=64x48&frames=1000", -1);
  FrameQueue queue(2, QueuePolicy::kBlock);
  DecodeThread thread(*source, queue);
  while (queue.size() < 2) std::this_thread::yield();
  thread.stop();
  Frame frame;
  EXPECT_FALSE(queue.pop(frame));
  EXPECT_FALSE(thread.failed());
}

TEST(DecodeThread, EndlessSource_IsStoppedByTheDestructor) {
  const auto source = open_test("test://noise?size=64x48&frames=10", -1);
  FrameQueue queue(2, QueuePolicy::kLatest);
  {
    const DecodeThread thread(*source, queue);
    Frame frame;
    ASSERT_TRUE(queue.pop(frame));
  }
  Frame frame;
  EXPECT_FALSE(queue.pop(frame));
}

// A source that breaks, and one that blocks until it is interrupted.
class BrokenSource final : public FrameSource {
 public:
  explicit BrokenSource(bool blocks) : blocks_(blocks) { fault_ = {ErrorKind::kInput, "broken", Hint::kNone}; }
  ReadStatus next(Frame&) override {
    while (blocks_ && !interrupted_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ReadStatus::kFailed;
  }
  void interrupt() override { interrupted_ = true; }
  void recycle(Frame) override {}

 private:
  bool blocks_;
  std::atomic<bool> interrupted_{false};
};

TEST(DecodeThread, SourceFails_ClosesAndTells) {
  BrokenSource source(false);
  FrameQueue queue(2, QueuePolicy::kBlock);
  DecodeThread thread(source, queue);
  Frame frame;
  EXPECT_FALSE(queue.pop(frame));
  thread.join();
  EXPECT_TRUE(thread.failed());
}

// Its next() throws: a program's own source may.
class ThrowingSource final : public FrameSource {
 public:
  ReadStatus next(Frame&) override { throw UnavailableError("the device is gone", Hint::kCpuDecoding); }
  void interrupt() override {}
  void recycle(Frame) override {}
};

TEST(DecodeThread, SourceThrows_KeepsKindWordsAndHint) {
  ThrowingSource source;
  FrameQueue queue(2, QueuePolicy::kBlock);
  DecodeThread thread(source, queue);
  Frame frame;
  EXPECT_FALSE(queue.pop(frame));
  thread.join();
  EXPECT_TRUE(thread.failed());
  EXPECT_EQ(thread.fault().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(thread.fault().what, "the device is gone");
  EXPECT_EQ(thread.fault().hint, Hint::kCpuDecoding);
}

TEST(DecodeThread, BlockingSource_IsInterruptedByStop) {
  BrokenSource source(true);
  FrameQueue queue(2, QueuePolicy::kBlock);
  DecodeThread thread(source, queue);
  thread.stop();
  EXPECT_FALSE(thread.failed()) << "stopping is no failure";
}

TEST(EmptyFrames, GivenBack_AreReused) {
  EmptyFrames empty_frames;
  AvFramePtr first = empty_frames.take();
  const AVFrame* address = first.get();
  empty_frames.give(std::move(first));
  EXPECT_EQ(empty_frames.take().get(), address);
}

}  // namespace
}  // namespace saccade::test
