#include "pipeline/source/push/pushed_source.h"

namespace saccade {

void PushedSource::note_frame() { ++counters_.frames; }

void PushedSource::finish() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

ReadStatus PushedSource::next(Frame&) {
  std::unique_lock lock(mutex_);
  ended_changed_.wait(lock, [this] { return ended_; });
  return ReadStatus::kEnd;
}

}  // namespace saccade
