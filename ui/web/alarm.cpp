#include "ui/web/alarm.h"

#include <chrono>

namespace saccade::ui {

void Alarm::ring() {
  {
    const std::lock_guard lock(mutex_);
    ringing_ = true;
  }
  rung_.notify_one();
}

void Alarm::wait(double seconds) {
  std::unique_lock lock(mutex_);
  if (seconds < 0) {
    rung_.wait(lock, [this] { return ringing_; });
  } else {
    rung_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ringing_; });
  }
  ringing_ = false;
}

}  // namespace saccade::ui
