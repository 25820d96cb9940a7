// Presentation times for a live stream that carries none: by its frames' arrivals, smoothed.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

// Note [Times by arrival]
// A multipart MJPEG camera, and raw H.264 over a socket, send no times; FFmpeg makes up 25 frames/s. What is known is
// when a frame came, with the jitter of networks and schedulers in it. An alpha-beta filter (Kalata 1984) follows the
// arrivals: a frame is expected an interval after the last one, or a whole number of them where some are missing, and
// an eighth of the error is taken over. Times rise and stay within kBound_ns of the arrivals; where the error is
// larger, the arrival itself is taken: after a pause, or when the camera changes its rate. A burst that came at once
// takes kLeastStep_ns a frame once that bound is reached.
class ArrivalClock {
 public:
  static constexpr std::int64_t kBound_ns = 250'000'000;
  static constexpr std::int64_t kLeastStep_ns = 1'000;

  // The frame's time on the arrivals' own clock. An arrival before the last one, of a picture that was shown later than
  // sent, counts as that.
  std::int64_t next(std::int64_t arrived_ns);

 private:
  std::optional<std::int64_t> last_ns_;  // given out
  std::int64_t last_arrived_ns_ = 0;
  std::int64_t interval_ns_ = 0;  // between frames; 0: not known yet
};

}  // namespace saccade
