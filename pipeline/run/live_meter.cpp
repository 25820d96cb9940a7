#include "pipeline/run/live_meter.h"

#include <algorithm>

#include "pipeline/clock.h"

namespace saccade {
bool LiveMeter::begins_after_gap(const FrameOrigin& origin) {
  const bool begins = origin.gaps != gaps_;
  gaps_ = origin.gaps;
  return begins;
}

std::int64_t LiveMeter::note_done(const FrameOrigin& origin) {
  if (origin.arrived_ns == 0) return 0;
  const std::int64_t now = steady_now_ns();
  since_capture_.record(now - origin.captured_ns);
  since_arrival_.record(now - origin.arrived_ns);
  ++by_clock_[static_cast<std::size_t>(origin.clock)];
  return now - origin.captured_ns;
}

CaptureClock LiveMeter::clock() const {
  return static_cast<CaptureClock>(std::max_element(by_clock_.begin(), by_clock_.end()) - by_clock_.begin());
}

}  // namespace saccade
