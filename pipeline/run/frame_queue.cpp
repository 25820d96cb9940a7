#include "pipeline/run/frame_queue.h"

#include <algorithm>
#include <utility>

namespace saccade {

QueueCounters& QueueCounters::operator+=(const QueueCounters& other) {
  pushed += other.pushed;
  popped += other.popped;
  dropped_stale += other.dropped_stale;
  dropped_closed += other.dropped_closed;
  return *this;
}

FrameQueue::FrameQueue(std::size_t capacity, QueuePolicy policy, std::function<void()> on_ready)
    : capacity_(std::max<std::size_t>(capacity, 1)),
      policy_(policy),
      on_ready_(std::move(on_ready)),
      ring_(capacity_) {}

void FrameQueue::tell_ready() const {
  if (on_ready_) on_ready_();
}

bool FrameQueue::push(Frame frame) {
  Frame stale;  // destroyed after the lock is gone
  std::unique_lock lock(mutex_);
  if (policy_ == QueuePolicy::kBlock) {
    if (size_ == capacity_) not_full_.wait(lock, [this] { return closed_ || size_ <= capacity_ / 2; });
  }
  if (closed_) {
    ++counters_.dropped_closed;
    return false;
  }
  if (size_ == capacity_) {
    stale = std::move(ring_[head_]);
    head_ = (head_ + 1) % capacity_;
    --size_;
    ++counters_.dropped_stale;
  }
  ring_[(head_ + size_) % capacity_] = std::move(frame);
  ++size_;
  ++counters_.pushed;
  lock.unlock();
  not_empty_.notify_one();
  tell_ready();
  return true;
}

bool FrameQueue::pop(Frame& out) {
  std::unique_lock lock(mutex_);
  not_empty_.wait(lock, [this] { return closed_ || size_ > 0; });
  if (size_ == 0) return false;
  std::swap(out, ring_[head_]);
  Frame old = std::move(ring_[head_]);  // what the caller held; destroyed after the lock is gone
  head_ = (head_ + 1) % capacity_;
  --size_;
  ++counters_.popped;
  const bool roomy = size_ <= capacity_ / 2;  // a producer that had to wait is woken for several frames, not for each
  lock.unlock();
  if (roomy) not_full_.notify_one();
  return true;
}

bool FrameQueue::ready_within(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  return not_empty_.wait_for(lock, timeout, [this] { return closed_ || size_ > 0; });
}

void FrameQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  not_empty_.notify_all();
  not_full_.notify_all();
  tell_ready();
}

void FrameQueue::close_now() {
  std::vector<Frame> dropped(capacity_);
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    counters_.dropped_closed += static_cast<std::int64_t>(size_);
    ring_.swap(dropped);
    size_ = 0;
    head_ = 0;
  }
  not_empty_.notify_all();
  not_full_.notify_all();
  tell_ready();
}

bool FrameQueue::drained() const {
  const std::lock_guard lock(mutex_);
  return closed_ && size_ == 0;
}

std::size_t FrameQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

QueueCounters FrameQueue::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace saccade
