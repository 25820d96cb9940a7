#include "pipeline/source/frame/sender_clock.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::int64_t kFaster = 2;  // than it plays: the sender does not pace itself

}  // namespace

// A paced stream may begin with what its sender kept for those who join.
bool SenderClock::is_paced(std::int64_t time_ns, std::int64_t arrived_ns) const {
  return time_ns - *first_ns_ <= kFaster * (arrived_ns - first_arrived_ns_) + kStep_ns;
}

std::int64_t SenderClock::next(std::int64_t stamp_ns, std::int64_t arrived_ns) {
  std::int64_t time_ns = stamp_ns + offset_ns_;
  step_ns_ = 0;
  if (!first_ns_) {
    first_ns_ = time_ns;
    first_arrived_ns_ = last_arrived_ns_ = arrived_ns;
    least_delay_ns_ = arrived_ns - time_ns;
    return last_ns_ = time_ns;
  }
  arrived_ns = std::max(arrived_ns, last_arrived_ns_);
  const std::int64_t passed_ns = arrived_ns - last_arrived_ns_;
  const std::int64_t rise_ns = time_ns - last_ns_;
  const bool too_early = rise_ns - passed_ns > kStep_ns && arrived_ns - time_ns < least_delay_ns_ - kStep_ns;
  if (rise_ns < -kStep_ns || (too_early && is_paced(last_ns_, arrived_ns))) {
    step_ns_ = rise_ns - std::max(passed_ns, frame_ns_);
    offset_ns_ -= step_ns_;
    time_ns -= step_ns_;
  } else if (rise_ns > 0 && rise_ns <= kStep_ns) {
    frame_ns_ = rise_ns;
  }
  least_delay_ns_ = std::min(least_delay_ns_, arrived_ns - time_ns);
  last_arrived_ns_ = arrived_ns;
  return last_ns_ = time_ns;
}

}  // namespace saccade
