// Presentation times that always rise, in nanoseconds, exact to the stream's own time base.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

struct FrameTime {
  std::int64_t pts_ns = 0;
  std::int64_t duration_ns = 0;
  bool made_up = false;     // the stream gave none
  bool not_rising = false;  // the stream's did not rise
  bool neighbour = false;   // outside the span that is wanted, next to it: see Note [Deinterlacing]
  bool begins = false;      // the first of a play: the frame given before is not its neighbour
};

// Note [Times that do not rise]
// A lone time stamp that fails to rise is replaced by the last one plus a frame's duration, and the next good one is
// taken as it comes. Where it is less than four frames behind what was given out (a duplicate with a place of its own
// in time), the clock goes on in small steps until it has caught up. When the stream goes on from a lower time (its
// stamps rise among themselves, yet stay below what was given out), the clock follows it by an offset: a recording
// glued to another, a counter that was reset.

// Note [Coarse times]
// Where a frame lasts no longer than the unit of the time stamps (thousands of frames a second in whole milliseconds),
// several frames share a stamp. The first of them keeps it; the others are spread up to the next unit, a frame's
// duration apart, or closer where more of them share a stamp. So no time is a unit or more from its stamp, and none
// runs ahead of the stream. Where the rate isn't known, stamps that rise by a single unit tell as much.
class PtsClock {
 public:
  // `default_duration_ns`: of a frame, by the stream's rate. `unit_ns`: of its stamps.
  explicit PtsClock(std::int64_t default_duration_ns, std::int64_t unit_ns = 1)
      : default_duration_ns_(default_duration_ns), unit_ns_(unit_ns) {}
  // `raw_ns`: the stream's time; `duration_ns`: of this frame, <= 0 when unknown.
  FrameTime next(std::optional<std::int64_t> raw_ns, std::int64_t duration_ns);

 private:
  bool shares_coarse_stamp(std::int64_t raw_ns) const;
  std::int64_t spread() const;
  void note_raw(std::int64_t raw_ns);

  std::int64_t default_duration_ns_;
  std::int64_t unit_ns_;
  std::int64_t least_rise_ns_ = 0;   // of two stamps, seen so far; 0: none
  std::int64_t sharing_ = 0;         // frames with the last stamp
  std::int64_t sharing_before_ = 0;  // with the one before
  std::int64_t offset_ns_ = 0;
  std::int64_t last_duration_ns_ = 0;
  std::int64_t frame_ns_ = 0;  // a frame's duration when the times last stopped rising
  std::optional<std::int64_t> last_ns_;
  std::optional<std::int64_t> last_raw_ns_;
  bool last_failed_ = false;
};

}  // namespace saccade
