// Units of a gaze file: of its places and of its times.
#pragma once

#include <cstdint>
#include <string>

namespace saccade {

enum class GazeSpace : std::uint8_t {
  kAuto,    // as the file's columns say
  kNorm,    // 0..1, origin top-left
  kNormUp,  // 0..1, origin bottom-left: Pupil's norm_pos
  kPx,      // pixels, origin top-left
};
enum class TimeUnit : std::uint8_t { kAuto, kSeconds, kMilliseconds, kMicroseconds, kNanoseconds };

// The part of a screen on which the video was shown, in the file's pixels. No width: the frame itself.
struct ScreenBox {
  double left_px = 0, top_px = 0, width_px = 0, height_px = 0;
  bool operator==(const ScreenBox&) const = default;
};

inline constexpr ScreenBox kPercent = {0, 0, 100, 100};  // places in hundredths of the picture

struct GazeUnits {
  GazeSpace space = GazeSpace::kAuto;
  ScreenBox screen;  // kPx
  TimeUnit time = TimeUnit::kAuto;
  bool operator==(const GazeUnits&) const = default;
};

// "auto", or SPACE[,TIME], either of which may be left out: norm, norm-up, percent, px, px:WxH, px:WxH+X+Y; s, ms,
// us, ns.
// Throws UsageError for anything else.
GazeUnits parse_gaze_units(const std::string& text);
std::string print_gaze_units(const GazeUnits& units);  // what parse_gaze_units() reads back

double seconds(TimeUnit unit);  // 1, 1e-3, 1e-6, 1e-9; kAuto: 1

}  // namespace saccade
