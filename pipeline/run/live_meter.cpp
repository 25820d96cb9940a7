#include "pipeline/run/live_meter.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace saccade {
namespace {

template <typename Clock>
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

const char* name(CaptureClock clock) {
  switch (clock) {
    case CaptureClock::kArrival:
      return "arrival";
    case CaptureClock::kDriver:
      return "driver";
    case CaptureClock::kSender:
      return "sender";
  }
  return "?";
}

// The thread may be held up between two readings: the closest pair of a few counts.
std::int64_t unix_minus_steady_ns() {
  constexpr std::int64_t kClose_ns = 20'000;
  std::int64_t difference = 0, closest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 8 && closest > kClose_ns; ++i) {
    const std::int64_t before = now_ns<std::chrono::steady_clock>();
    const std::int64_t wall = now_ns<std::chrono::system_clock>();
    const std::int64_t apart = now_ns<std::chrono::steady_clock>() - before;
    if (apart >= closest) continue;
    closest = apart;
    difference = wall - before - apart / 2;
  }
  return difference;
}

bool LiveMeter::begins_after_gap(const FrameOrigin& origin) {
  const bool begins = origin.gaps != gaps_;
  gaps_ = origin.gaps;
  return begins;
}

std::int64_t LiveMeter::note_done(const FrameOrigin& origin) {
  if (origin.arrived_ns == 0) return 0;
  const std::int64_t now = now_ns<std::chrono::steady_clock>();
  since_capture_.record(now - origin.captured_ns);
  since_arrival_.record(now - origin.arrived_ns);
  ++by_clock_[static_cast<std::size_t>(origin.clock)];
  return now - origin.captured_ns;
}

CaptureClock LiveMeter::clock() const {
  return static_cast<CaptureClock>(std::max_element(by_clock_.begin(), by_clock_.end()) - by_clock_.begin());
}

}  // namespace saccade
