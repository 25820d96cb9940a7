#include "pipeline/source/decode/capture_time.h"

#include "pipeline/clock.h"

namespace saccade {

FrameOrigin frame_origin(const AVFormatContext& format, bool is_device, std::int64_t pts_ns, std::int64_t arrived_ns) {
  FrameOrigin origin{arrived_ns, arrived_ns, CaptureClock::kArrival, 0};
  const std::int64_t ahead_ns = unix_minus_steady_ns();
  constexpr std::int64_t kTransitMax_ns = 10'000'000'000;
  const auto take = [&](std::int64_t captured_ns, CaptureClock clock) {
    const std::int64_t transit_ns = arrived_ns - captured_ns;
    if (transit_ns < 0 || transit_ns > kTransitMax_ns) return;
    origin.captured_ns = captured_ns;
    origin.clock = clock;
  };
  if (is_device) {
    take(pts_ns, CaptureClock::kDriver);
    take(pts_ns - ahead_ns, CaptureClock::kDriver);
  } else if (format.start_time_realtime != AV_NOPTS_VALUE && format.start_time_realtime > 0) {
    take(format.start_time_realtime * 1000 + pts_ns - ahead_ns, CaptureClock::kSender);
  }
  return origin;
}

}  // namespace saccade
