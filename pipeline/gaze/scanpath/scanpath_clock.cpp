#include "pipeline/gaze/scanpath/scanpath_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace saccade {
namespace {

__extension__ using Wide = __int128;  // elapsed (63 bits) times mantissa (53 bits) fits

constexpr std::int64_t kNsPerS = 1'000'000'000;

}  // namespace

RateSchedule::RateSchedule(double rate_hz) {
  if (!(rate_hz >= kMinHz && rate_hz <= kMaxHz)) throw std::invalid_argument("fixation rate out of range");
  int exponent = 0;
  const double fraction = std::frexp(rate_hz, &exponent);  // rate = fraction * 2^exponent, 0.5 <= fraction < 1
  mantissa_ = static_cast<std::int64_t>(std::ldexp(fraction, std::numeric_limits<double>::digits));
  shift_ = std::numeric_limits<double>::digits - exponent;
  while (shift_ > 0 && mantissa_ % 2 == 0) {
    mantissa_ /= 2;
    --shift_;
  }
}

DueFixation RateSchedule::due(std::int64_t elapsed_ns) const {
  const Wide per_fixation = Wide{kNsPerS} << shift_;  // k / rate seconds = k * per_fixation / mantissa nanoseconds
  const Wide index = Wide{elapsed_ns} * mantissa_ / per_fixation;
  const Wide begins = index * per_fixation;
  DueFixation due;
  due.index = static_cast<std::int64_t>(index);
  due.departs_ns = static_cast<std::int64_t>((begins + mantissa_ - 1) / mantissa_);
  due.period_ns = static_cast<std::int64_t>(per_fixation / mantissa_);
  return due;
}

DueFixation ListSchedule::due(std::int64_t elapsed_ns) const {
  const auto after = std::upper_bound(begins_ns_.begin(), begins_ns_.end(), elapsed_ns);
  const auto current = after == begins_ns_.begin() ? after : after - 1;
  const auto next = current + 1;
  DueFixation due;
  due.index = current - begins_ns_.begin();
  due.departs_ns = *current;
  due.period_ns = next == begins_ns_.end() ? 0 : *next - *current;
  return due;
}

}  // namespace saccade
