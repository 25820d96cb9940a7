// How old live frames are when their patches are ready, and where the stream was interrupted.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/run/stats.h"
#include "pipeline/source/frame/frame.h"

namespace saccade {

// The pipeline's thread. Frames that are not live leave no trace.
class LiveMeter {
 public:
  // True for the first frame after an interruption: the pipeline is to be reset before it.
  bool begins_after_gap(const FrameOrigin& origin);
  // The frame is through: texture, and patches where they were due. Returns its age since capture, in ns; 0: not live.
  std::int64_t note_done(const FrameOrigin& origin);

  const DurationHistogram& since_capture() const { return since_capture_; }
  const DurationHistogram& since_arrival() const { return since_arrival_; }
  CaptureClock clock() const;  // that most frames' capture was told by
  std::int32_t gaps() const { return gaps_; }

 private:
  DurationHistogram since_capture_;
  DurationHistogram since_arrival_;
  std::array<std::int64_t, 3> by_clock_{};
  std::int32_t gaps_ = 0;
};

}  // namespace saccade
