// The time stamps of a live sender, across the steps of its clock.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

// Note [Clocks that are set]
// A sender's clock may step while its frames come as before: a camera learns the time, a counter starts again. FFmpeg
// may even take a step backward for a counter that wrapped, and adds hours. Frames arrive at the pace of the world, so
// a step that the arrivals don't share is taken out: the time goes on by arrival, and the stamps count from there.
//
// Forward: the frame would be more than kStep_ns earlier than any before it, measured by its delay (arrival minus
// stamp), and so is its step alone. So packets that waited in a network are not taken for a step, nor frames that were
// left out. A sender that does not pace itself keeps its steps: its arrivals say nothing. Backward: by more than
// kStep_ns; a smaller one is left to Note [Times that do not rise].
class SenderClock {
 public:
  static constexpr std::int64_t kStep_ns = 2'000'000'000;

  // The frame's stamp on the clock of the first one. Frames in the order of presentation.
  std::int64_t next(std::int64_t stamp_ns, std::int64_t arrived_ns);
  // What the clock was set by at the last frame; 0: nothing.
  std::int64_t step_ns() const { return step_ns_; }

 private:
  bool is_paced(std::int64_t time_ns, std::int64_t arrived_ns) const;

  std::optional<std::int64_t> first_ns_;
  std::int64_t first_arrived_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t last_arrived_ns_ = 0;
  std::int64_t frame_ns_ = 0;  // from frame to frame, the last time that it was no step
  std::int64_t least_delay_ns_ = 0;
  std::int64_t offset_ns_ = 0;
  std::int64_t step_ns_ = 0;
};

}  // namespace saccade
