// A bounded queue of frames between two threads.
// Deliberate limits: one producer, one consumer, a capacity fixed at construction, no priorities, no peeking.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/enum_names.h"
#include "pipeline/source/frame/frame.h"
#include "pipeline/source/frame/stream_info.h"

namespace saccade {

enum class QueuePolicy : std::uint8_t {
  kBlock,   // push waits for room: nothing is dropped (batch)
  kLatest,  // push replaces the oldest waiting frame and counts it (live)
};
inline constexpr EnumName<QueuePolicy> kQueuePolicies[] = {{QueuePolicy::kBlock, "block"},
                                                           {QueuePolicy::kLatest, "latest"}};
constexpr std::span<const EnumName<QueuePolicy>> names_of(QueuePolicy) { return kQueuePolicies; }

// What was asked for, else the newest frame of a live source that can't wait and every frame of anything else.
inline QueuePolicy policy_in_force(std::optional<QueuePolicy> asked, const StreamInfo& info) {
  return asked.value_or(info.live && !info.sender_waits ? QueuePolicy::kLatest : QueuePolicy::kBlock);
}
// How many frames may wait: a live one grows old, so few.
constexpr std::size_t capacity_for(QueuePolicy policy, std::size_t blocking) {
  return policy == QueuePolicy::kLatest ? 2 : blocking;
}

struct QueueCounters {
  std::int64_t pushed = 0;
  std::int64_t popped = 0;
  std::int64_t dropped_stale = 0;   // kLatest: replaced by a newer frame
  std::int64_t dropped_closed = 0;  // pushed after, or waiting at, close_now()

  QueueCounters& operator+=(const QueueCounters& other);
};

class FrameQueue {
 public:
  // on_ready: called after each push and close, on that thread, for a consumer that waits for several queues.
  FrameQueue(std::size_t capacity, QueuePolicy policy, std::function<void()> on_ready = {});

  bool push(Frame frame);                               // false: the queue is closed and the frame was dropped
  bool pop(Frame& out);                                 // waits; false: closed and empty
  bool ready_within(std::chrono::nanoseconds timeout);  // waits so long at most; true: pop() won't wait
  void close();                                         // no more pushes; what waits can still be popped
  void close_now();                                     // and what waits is dropped: both sides return at once
  std::size_t size() const;
  bool drained() const;  // closed and empty: pop() would say false
  std::size_t capacity() const { return capacity_; }
  QueueCounters counters() const;

 private:
  void tell_ready() const;
  const std::size_t capacity_;
  const QueuePolicy policy_;
  const std::function<void()> on_ready_;
  mutable std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::vector<Frame> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool closed_ = false;
  QueueCounters counters_;
};

}  // namespace saccade
