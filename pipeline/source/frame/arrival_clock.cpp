#include "pipeline/source/frame/arrival_clock.h"

#include <algorithm>
#include <cstdlib>

namespace saccade {
namespace {

constexpr std::int64_t kPositionShare = 8;        // alpha
constexpr std::int64_t kIntervalShare = 120;      // beta = alpha^2 / (2 - alpha)
constexpr std::int64_t kTogether_ns = 1'000'000;  // frames this near to each other came as one burst

}  // namespace

std::int64_t ArrivalClock::next(std::int64_t arrived_ns) {
  if (!last_ns_) {
    last_ns_ = last_arrived_ns_ = arrived_ns;
    return arrived_ns;
  }
  arrived_ns = std::max(arrived_ns, last_arrived_ns_);
  const std::int64_t since_ns = arrived_ns - last_arrived_ns_;
  std::int64_t expected_ns = *last_ns_ + interval_ns_;
  if (interval_ns_ > 0 && arrived_ns - expected_ns > interval_ns_ * 3 / 4) {  // frames are missing
    expected_ns += (arrived_ns - expected_ns + interval_ns_ / 2) / interval_ns_ * interval_ns_;
  }
  const std::int64_t error_ns = arrived_ns - expected_ns;
  last_arrived_ns_ = arrived_ns;
  std::int64_t time_ns = arrived_ns;
  if (interval_ns_ == 0 || std::abs(error_ns) > kBound_ns) {
    if (since_ns > kTogether_ns) interval_ns_ = since_ns;
  } else {
    time_ns -= error_ns - error_ns / kPositionShare;
    interval_ns_ = std::max<std::int64_t>(interval_ns_ + error_ns / kIntervalShare, kTogether_ns);
  }
  last_ns_ = std::max(time_ns, *last_ns_ + kLeastStep_ns);
  return *last_ns_;
}

}  // namespace saccade
