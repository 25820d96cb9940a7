#include "app/dump/dump_queue.h"

#include <utility>

namespace saccade {

EmissionQueue::EmissionQueue(std::vector<Emission> slots, std::function<void()> on_freed)
    : on_freed_(std::move(on_freed)), slots_(std::move(slots)), ring_(slots_.size()) {
  free_.reserve(slots_.size());
  for (Emission& slot : slots_) free_.push_back(&slot);
}

Emission* EmissionQueue::acquire() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return aborted_ || !free_.empty(); });
  return take_free();
}

Emission* EmissionQueue::try_acquire() {
  const std::lock_guard lock(mutex_);
  return take_free();
}

Emission* EmissionQueue::take_free() {
  if (aborted_ || free_.empty()) return nullptr;
  Emission* slot = free_.back();
  free_.pop_back();
  return slot;
}

void EmissionQueue::tell_freed() const {
  if (on_freed_) on_freed_();
}

void EmissionQueue::submit(Emission* filled) {
  {
    const std::lock_guard lock(mutex_);
    ring_[(head_ + count_) % ring_.size()] = filled;
    ++count_;
    if (!worth_waking()) return;
  }
  filled_.notify_one();
}

void EmissionQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  filled_.notify_all();
}

void EmissionQueue::abort() {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  filled_.notify_all();
  freed_.notify_all();
  tell_freed();
}

Emission* EmissionQueue::take(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (count_ == 0) draining_ = false;
  if (!draining_) {
    filled_.wait_until(lock, deadline, [this] { return aborted_ || finished_ || worth_waking(); });
    draining_ = true;
  }
  if (aborted_ || count_ == 0) return nullptr;
  Emission* slot = ring_[head_];
  head_ = (head_ + 1) % ring_.size();
  --count_;
  return slot;
}

void EmissionQueue::release(Emission* taken) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(taken);
  }
  freed_.notify_one();
  tell_freed();
}

bool EmissionQueue::ended() const {
  const std::lock_guard lock(mutex_);
  return aborted_ || (finished_ && count_ == 0);
}

}  // namespace saccade
