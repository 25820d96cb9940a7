#include "pipeline/source/live/watch.h"

#include <cmath>

#include "pipeline/clock.h"

namespace saccade {
namespace {

constexpr std::int64_t kAsleep_ns = 1'000'000'000;  // nobody asked for so long: the process did not run

// A message of RTSP is far shorter. As many packets come late at once where the numbers began again.
constexpr std::int64_t kMostStrayBytes = std::int64_t{1} << 16;
constexpr std::int64_t kMostStalePackets = 64;

}  // namespace

void ReadWatch::arm(double timeout_s) {
  const std::int64_t now = steady_now_ns();
  timeout_s_ = timeout_s;
  asked_ns_ = now;
  timed_out_ = false;
  deadline_ns_ = timeout_s > 0 ? now + std::llround(timeout_s * 1e9) : 0;
}

bool ReadWatch::lost_place() const {
  return link_.stray_bytes > kMostStrayBytes || link_.stale_packets > kMostStalePackets;
}

bool ReadWatch::should_stop() {
  if (interrupted_ || lost_place()) return true;
  if (deadline_ns_ == 0) return false;
  const std::int64_t now = steady_now_ns();
  const std::int64_t since = now - asked_ns_.exchange(now);
  if (since > kAsleep_ns) deadline_ns_ += since;
  if (now < deadline_ns_) return false;
  timed_out_ = true;
  return true;
}

AVIOInterruptCB ReadWatch::callback() {
  return {[](void* watch) { return static_cast<ReadWatch*>(watch)->should_stop() ? 1 : 0; }, this};
}

}  // namespace saccade
