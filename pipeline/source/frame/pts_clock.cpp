#include "pipeline/source/frame/pts_clock.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::int64_t kFramesBehind = 4;   // up to this far behind a stream is waited for, not followed
constexpr std::int64_t kCatchUpSteps = 16;  // so many frames meanwhile take a frame's duration

}  // namespace

FrameTime PtsClock::next(std::optional<std::int64_t> raw_ns, std::int64_t duration_ns) {
  FrameTime time;
  time.made_up = !raw_ns;
  if (!raw_ns) {
    time.pts_ns = last_ns_ ? *last_ns_ + last_duration_ns_ : 0;
    last_failed_ = false;
  } else {
    time.pts_ns = *raw_ns + offset_ns_;
    const bool fails = last_ns_ && time.pts_ns <= *last_ns_;
    if (fails) {
      const bool rises_again = last_failed_ && last_raw_ns_ && *raw_ns > *last_raw_ns_;
      const bool soon_caught_up = rises_again && *last_ns_ - time.pts_ns < kFramesBehind * frame_ns_;
      const bool follows = rises_again && !soon_caught_up;
      const std::int64_t step = follows          ? *raw_ns - *last_raw_ns_
                                : soon_caught_up ? std::max<std::int64_t>(frame_ns_ / kCatchUpSteps, 1)
                                                 : last_duration_ns_;
      if (!last_failed_) frame_ns_ = last_duration_ns_;
      time.pts_ns = *last_ns_ + step;
      if (follows) offset_ns_ = time.pts_ns - *raw_ns;
    }
    time.not_rising = fails;
    last_failed_ = fails;
    last_raw_ns_ = raw_ns;
  }
  time.duration_ns = duration_ns > 0 ? duration_ns : last_ns_ ? time.pts_ns - *last_ns_ : default_duration_ns_;
  last_ns_ = time.pts_ns;
  last_duration_ns_ = time.duration_ns;
  return time;
}

}  // namespace saccade
