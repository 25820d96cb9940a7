// When a frame is due on the screen: the video's time laid against the clock. Pure arithmetic; the
// caller tells the time.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

// All times in nanoseconds; `now` is of any steady clock.
class Pacer {
 public:
  void start_at(std::int64_t pts_ns, std::int64_t now_ns);  // this frame is due now: start, seek, pause ended
  void stop() { anchor_.reset(); }                          // the next frame is due whenever it comes
  void set_speed(double speed, std::int64_t now_ns);        // > 0; what is due now stays due now
  double speed() const { return speed_; }
  bool running() const { return anchor_.has_value(); }

  // After start_at().
  std::int64_t due_ns(std::int64_t pts_ns) const;

  // Says that a frame is shown now. When it comes later than kForgive, all later ones are moved back by as much: a
  // source that is too slow plays slower, and its lag does not grow.
  void shown(std::int64_t pts_ns, std::int64_t now_ns);
  static constexpr std::int64_t kForgive_ns = 100'000'000;

 private:
  struct Anchor {
    std::int64_t pts_ns = 0;
    std::int64_t at_ns = 0;
  };
  std::optional<Anchor> anchor_;
  double speed_ = 1.0;
};

}  // namespace saccade
