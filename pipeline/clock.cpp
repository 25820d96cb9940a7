#include "pipeline/clock.h"

#include <chrono>
#include <limits>

namespace saccade {
namespace {

template <typename Clock>
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t steady_now_ns() { return now_ns<std::chrono::steady_clock>(); }

// The thread may be held up between two readings: the closest pair of a few counts.
std::int64_t unix_minus_steady_ns() {
  constexpr std::int64_t kClose_ns = 20'000;
  std::int64_t difference = 0, closest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 8 && closest > kClose_ns; ++i) {
    const std::int64_t before = steady_now_ns();
    const std::int64_t wall = now_ns<std::chrono::system_clock>();
    const std::int64_t apart = steady_now_ns() - before;
    if (apart >= closest) continue;
    closest = apart;
    difference = wall - before - apart / 2;
  }
  return difference;
}

}  // namespace saccade
