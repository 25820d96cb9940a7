// The number of a frame by its time, also after a seek.
#pragma once

#include <cstdint>
#include <vector>

namespace saccade::ui {

// Frames that were seen one after another from the first on are counted; beyond them the number follows from the rate.
class FrameNumbers {
 public:
  void begin(std::int64_t start_pts_ns, double fps);  // of the first frame; fps 0: unknown
  // A frame comes. follows: nothing was left out between it and the frame noted before.
  void note(std::int64_t pts_ns, bool follows);
  std::int64_t number(std::int64_t pts_ns) const;  // from 0

 private:
  std::vector<std::int64_t> times_ns_;  // of frames 0, 1, 2 ..., as far as they are known
  std::int64_t last_ns_ = 0;            // noted before
  double fps_ = 0;
};

}  // namespace saccade::ui
