#include "pipeline/source/frame/pts_clock.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::int64_t kFramesBehind = 4;   // up to this far behind a stream is waited for, not followed
constexpr std::int64_t kCatchUpSteps = 16;  // so many frames meanwhile take a frame's duration
constexpr std::int64_t kCrowd = 8;          // of what is left of a unit, the share of a frame more than expected

}  // namespace

bool PtsClock::shares_coarse_stamp(std::int64_t raw_ns) const {
  const bool is_coarse =
      default_duration_ns_ <= unit_ns_ || (least_rise_ns_ > 0 && least_rise_ns_ < unit_ns_ + unit_ns_ / 2);
  return is_coarse && last_raw_ns_ && raw_ns == *last_raw_ns_;
}

// The time of one more frame with the last stamp, which `sharing_` counts: between the last time and the next unit.
std::int64_t PtsClock::spread() const {
  const std::int64_t by_rate = default_duration_ns_ > 0 ? unit_ns_ / default_duration_ns_ : 0;
  const std::int64_t expected = std::max(sharing_before_, by_rate);
  const std::int64_t end_ns = *last_raw_ns_ + offset_ns_ + unit_ns_;
  const std::int64_t step_ns = sharing_ <= expected ? unit_ns_ / expected : (end_ns - *last_ns_) / kCrowd;
  return *last_ns_ + std::max<std::int64_t>(step_ns, 1);
}

void PtsClock::note_raw(std::int64_t raw_ns) {
  if (last_raw_ns_ && raw_ns == *last_raw_ns_) {
    ++sharing_;
    return;
  }
  if (last_raw_ns_ && raw_ns > *last_raw_ns_) {
    const std::int64_t rise_ns = raw_ns - *last_raw_ns_;
    least_rise_ns_ = least_rise_ns_ > 0 ? std::min(least_rise_ns_, rise_ns) : rise_ns;
  }
  sharing_before_ = std::max(sharing_, sharing_before_);
  sharing_ = 1;
}

FrameTime PtsClock::next(std::optional<std::int64_t> raw_ns, std::int64_t duration_ns) {
  FrameTime time;
  time.made_up = !raw_ns;
  if (!raw_ns) {
    time.pts_ns = last_ns_ ? *last_ns_ + last_duration_ns_ : 0;
    last_failed_ = false;
  } else {
    time.pts_ns = *raw_ns + offset_ns_;
    const bool fails = last_ns_ && time.pts_ns <= *last_ns_;
    const bool shares = fails && shares_coarse_stamp(*raw_ns);
    note_raw(*raw_ns);
    if (shares) {
      time.pts_ns = spread();
      duration_ns = std::min(duration_ns, time.pts_ns - *last_ns_);
    } else if (fails) {
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
    last_failed_ = fails && !shares;
    last_raw_ns_ = raw_ns;
  }
  time.duration_ns = duration_ns > 0 ? duration_ns : last_ns_ ? time.pts_ns - *last_ns_ : default_duration_ns_;
  last_ns_ = time.pts_ns;
  last_duration_ns_ = time.duration_ns;
  return time;
}

}  // namespace saccade
