// Frames of one source, decoded ahead on a thread of their own; sought to any frame, stepped both ways.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "pipeline/error.h"
#include "pipeline/log.h"
#include "pipeline/run/decode_thread.h"
#include "pipeline/run/frame_queue.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

struct FeedConfig {
  SourceConfig source;
  std::optional<QueuePolicy> policy;  // none: the newest frame of a live source, every frame of anything else
  std::size_t frames_ahead = 4;       // that may wait; fewer of a live source with policy latest
  TraceWriter* trace = nullptr;       // borrowed; null: none
  std::function<void()> on_ready;     // see FrameQueue; any thread
};

enum class PollStatus : std::uint8_t {
  kFrame,
  kLater,  // the decoder has none ready
  kEnd,    // the stream's end, where it broke (see fault()), or interrupt()
};

// One thread calls, but for interrupt(). Frames come in the order of their times; after a seek from there on. They go
// before the feed they came from.
class Feed {
 public:
  // Opens and starts decoding. Throws InputError, UsageError, UnavailableError; Error of kInterrupted once
  // config.source.stop is set, which is how opening is interrupted.
  explicit Feed(const FeedConfig& config);
  // From a source that is open; config.source is not read but for its log, and for what was asked of it.
  Feed(std::unique_ptr<FrameSource> source, const FeedConfig& config);
  ~Feed();  // ends promptly, also while the source waits for a network
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  PollStatus poll(Frame& out);                          // never waits
  PollStatus wait(Frame& out);                          // kFrame or kEnd
  bool ready_within(std::chrono::nanoseconds timeout);  // waits so long at most; true: wait() won't wait
  const Frame* peek();                       // waits for the next frame, which stays the next one; null: the end
  [[noreturn]] void throw_no_frame() const;  // why peek() gave none at the start
  void recycle(Frame frame) { source_->recycle(std::move(frame)); }

  // The next frame is the first at or after pts_ns; where that is past the end, the last one. False: this input can't
  // go back, and goes on where it was.
  bool seek(std::int64_t pts_ns);

  // The next frame is the last one before pts_ns, or the first of all. As seek().
  bool seek_before(std::int64_t pts_ns);

  // Any thread, also while another one seeks or waits. Frames that wait are dropped, and nothing comes any more.
  void interrupt();
  bool interrupted() const { return interrupted_.load(); }

  // Ends decoding and joins its thread, as the destructor. Nothing comes any more; the counters are final.
  void stop();

  const StreamInfo& info() const { return source_->info(); }
  LinkState link() const { return source_->link(); }  // at any time
  QueuePolicy policy() const { return policy_; }
  bool seekable() const { return seekable_; }
  std::int64_t start_pts_ns() const { return start_pts_ns_; }  // of the first frame, once it was seen
  std::int64_t duration_ns() const;  // 0: unknown. Grows when frames come from later than was promised
  std::size_t depth() const { return held_.size() + queue_->size(); }  // frames that wait
  std::size_t capacity() const { return capacity_; }
  QueueCounters queue_counters() const;                               // of all queues so far: a seek makes a new one
  std::int64_t last_decode_ns() const { return decode_->last_ns(); }  // of the newest frame; any time

  // The source's counters, its end and its times are final, and may be read: after the end or stop().
  bool finished() const { return finished_; }
  bool failed() const { return failed_; }        // the stream broke
  const Fault& fault() const { return fault_; }  // how; also of a seek that failed
  const SourceCounters& counters() const { return source_->counters(); }
  StreamEnd end() const { return source_->end(); }
  const DurationHistogram& decode_times() const { return decode_->times(); }  // since the last seek

 private:
  void start();
  void close();
  PollStatus take(Frame& out, bool may_wait);
  void note_end();
  bool restart_at(std::int64_t pts_ns);
  bool hold_last_before(std::int64_t pts_ns);

  std::unique_ptr<FrameSource> source_;
  const QueuePolicy policy_;
  const std::size_t capacity_;
  TraceWriter* const trace_;
  const Log log_;
  const Fault no_frame_;  // what throw_no_frame() says of a source that didn't break
  const std::function<void()> on_ready_;
  std::mutex mutex_;  // of queue_'s replacement against interrupt()
  std::unique_ptr<FrameQueue> queue_;
  std::unique_ptr<DecodeThread> decode_;
  std::atomic<bool> interrupted_{false};
  std::deque<Frame> held_;  // popped while seeking or peeking, given out before the queue's
  QueueCounters past_;      // of queues before the last seek
  Fault fault_;
  bool finished_ = false;
  bool failed_ = false;
  bool seekable_ = false;
  bool any_frame_ = false;
  std::int64_t start_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = 0;
};

}  // namespace saccade
