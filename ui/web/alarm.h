// Wakes the thread that serves the viewer.
#pragma once

#include <condition_variable>
#include <mutex>

namespace saccade::ui {

// Ends a wait from any thread.
class Alarm {
 public:
  void ring();
  void wait(double seconds);  // below 0: for a ring alone

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  bool ringing_ = false;
};

}  // namespace saccade::ui
