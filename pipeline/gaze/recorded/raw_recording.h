// A gaze file as it was read, in its own units: before it is judged what of it can be followed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/gaze/recorded/recording.h"
#include "pipeline/gaze/recorded/units.h"

namespace saccade {

enum class LookKind : std::uint8_t { kSeen, kMissing, kOffScreen, kUnsure, kOther };

struct RawLook {
  double time = 0;
  double x = 0, y = 0;
  int line = 0;
  LookKind kind = LookKind::kSeen;
  std::int64_t fixation = -1;  // runs of rows with the same number are one fixation; -1: this row stands alone
};

// The mean of the eyes that see: both coordinates of one are numbers. NaN where none does.
class MeanOfEyes {
 public:
  void add(double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    x_ += x;
    y_ += y;
    ++eyes_;
  }
  bool sees() const { return eyes_ > 0; }
  double x() const { return mean(x_); }
  double y() const { return mean(y_); }

 private:
  double mean(double sum) const { return sees() ? sum / eyes_ : std::numeric_limits<double>::quiet_NaN(); }
  double x_ = 0, y_ = 0;
  int eyes_ = 0;
};

struct RawRecording {
  std::string format;
  std::vector<RawLook> looks;
  GazeSpace space = GazeSpace::kAuto;
  ScreenBox screen;  // where the file says it
  TimeUnit time_unit = TimeUnit::kAuto;
  bool samples = false;    // rather than fixations
  bool own_clock = false;  // times count from `zero`, else from the first row
  std::optional<double> zero;
  bool strict = false;  // t_s,u,v: times rise, row by row
};

// Lines of t_s,u,v, or a table whose header names its columns. Throws InputError.
RawRecording read_table(const std::string& path, const std::string& text, const RecordingConfig& config);

bool is_eyelink(const std::string& text);
// EyeLink's ASC (EDF2ASC): its fixation events; its samples where it has no events, or where config.raw asks for them.
RawRecording read_eyelink(const std::string& path, const std::string& text, const RecordingConfig& config);

}  // namespace saccade
