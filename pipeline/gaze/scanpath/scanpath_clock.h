// When fixations are due: exact arithmetic on presentation times.
#pragma once

#include <cstdint>
#include <vector>

namespace saccade {

// The newest fixation due at some time. Times are relative to the first frame.
struct DueFixation {
  std::int64_t index = 0;
  std::int64_t departs_ns = 0;  // the first whole nanosecond at or after the instant it begins
  std::int64_t period_ns = 0;   // until the next one; 0: there is none
};

class FixationSchedule {
 public:
  virtual ~FixationSchedule() = default;
  virtual DueFixation due(std::int64_t elapsed_ns) const = 0;  // elapsed_ns >= 0
};

// Fixation k begins at k / rate. The rate, a double, is a fraction with a power of two below: no rounding accumulates,
// however long the stream. rate_hz in kMinHz .. kMaxHz.
class RateSchedule final : public FixationSchedule {
 public:
  static constexpr double kMinHz = 0.001;
  static constexpr double kMaxHz = 1000;
  explicit RateSchedule(double rate_hz);
  DueFixation due(std::int64_t elapsed_ns) const override;

 private:
  std::int64_t mantissa_ = 1;  // rate = mantissa / 2^shift
  int shift_ = 0;
};

// Fixations at given rising times; the first also serves the time before it.
class ListSchedule final : public FixationSchedule {
 public:
  explicit ListSchedule(std::vector<std::int64_t> begins_ns) : begins_ns_(std::move(begins_ns)) {}
  DueFixation due(std::int64_t elapsed_ns) const override;

 private:
  std::vector<std::int64_t> begins_ns_;
};

}  // namespace saccade
