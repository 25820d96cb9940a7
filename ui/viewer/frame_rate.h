// How many frames a second there are now: shown, or in a stream that does not know its rate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace saccade::ui {

// Over the last second, or the last two frames where they are further apart. Times are of any steady clock.
class FrameRate {
 public:
  void note(std::int64_t now_ns);  // a frame is shown
  void reset() { shown_ns_.clear(); }
  // Falls while no frame comes, to 0 after a few seconds.
  double per_s(std::int64_t now_ns);

 private:
  std::deque<std::int64_t> shown_ns_;
};

}  // namespace saccade::ui
