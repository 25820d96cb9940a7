// A source as a person plays it: decoded ahead on a thread, sought to any frame, stepped both ways.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/run/decode_thread.h"
#include "pipeline/run/frame_queue.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

enum class PollStatus : std::uint8_t {
  kFrame,
  kLater,  // the decoder has none ready
  kEnd,    // the stream's end, or where it broke: see fault()
};

// One thread but for the decoder's own. Frames come in the order of their times; after a seek from there on.
class Player {
 public:
  // Opens and starts decoding. Throws InputError.
  Player(const SourceConfig& config, std::optional<QueuePolicy> policy);
  ~Player();  // ends promptly, also when the source waits for a network
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  PollStatus poll(Frame& out);  // never waits
  PollStatus wait(Frame& out);  // kFrame or kEnd
  void recycle(Frame frame) { source_->recycle(std::move(frame)); }

  // The next frame is the first at or after pts_ns; where that is past the end, the last one. False: this input can't
  // go back, and goes on where it was.
  bool seek(std::int64_t pts_ns);

  // The next frame is the last one before pts_ns, or the first of all. As seek().
  bool seek_before(std::int64_t pts_ns);

  void interrupt();  // any thread: everything ends as at the end of the stream

  const StreamInfo& info() const { return source_->info(); }
  const Fault& fault() const { return fault_; }  // its `what` is not empty: the stream broke
  std::int64_t start_pts_ns() const { return start_pts_ns_; }
  std::int64_t duration_ns() const;  // 0: unknown. Grows when frames come from later than was promised
  bool seekable() const { return seekable_; }
  std::size_t queue_depth() const { return held_.size() + queue_->size(); }
  std::size_t queue_capacity() const { return queue_->capacity(); }
  std::int64_t dropped_by_queue() const { return dropped_stale_ + queue_->counters().dropped_stale; }
  std::int64_t last_decode_ns() const { return decode_ ? decode_->last_ns() : 0; }
  std::int64_t frames_corrupt() const { return frames_corrupt_; }  // counted when the end is reached

 private:
  void start();
  void stop();
  PollStatus take(Frame& out, bool may_wait);
  void note_end();
  bool restart_at(std::int64_t pts_ns);
  bool hold_last_before(std::int64_t pts_ns);

  std::optional<QueuePolicy> policy_;
  std::unique_ptr<FrameSource> source_;
  std::unique_ptr<FrameQueue> queue_;
  std::unique_ptr<DecodeThread> decode_;
  std::deque<Frame> held_;  // popped while seeking, given out before the queue's
  Fault fault_;
  std::int64_t start_pts_ns_ = 0;
  std::int64_t last_pts_ns_ = 0;
  std::int64_t dropped_stale_ = 0;
  std::int64_t frames_corrupt_ = 0;
  bool seekable_ = false;
};

}  // namespace saccade
