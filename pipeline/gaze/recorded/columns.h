// What the columns of a table of gaze mean, by their names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/gaze/recorded/units.h"

namespace saccade {

struct GazeColumns {
  static constexpr int kNone = -1;
  int time = kNone;
  TimeUnit time_unit = TimeUnit::kAuto;
  std::vector<int> x, y;  // one, or the left and the right eye's
  GazeSpace space = GazeSpace::kAuto;
  bool percent = false;    // kPx, of a screen of 100 x 100
  bool fixations = false;  // a row is a fixation
  int confidence = kNone;  // 0..1
  int valid = kNone;       // 0: nothing was seen
  int on_surface = kNone;  // 0 or False: beside it
  int blink = kNone;       // not empty: within a blink
  int event = kNone;       // "Fixation", "Saccade", "EyesNotFound"
  int fixation_id = kNone;
  int screen_width = kNone, screen_height = kNone;  // pixels
  bool own_clock = false;                           // times are the tracker's: they count from the first row
  bool plain = false;                               // exactly t_s, u, v
  std::string format;                               // "Pupil", "Tobii", "columns time, x, y"
  std::vector<std::string> names;
};

// nullopt: no time, no x or no y among these names. `raw`: gaze is wanted, where a table has fixations too.
std::optional<GazeColumns> find_columns(std::span<const std::string_view> header, bool raw);
// t_s, u, v in this order.
GazeColumns plain_columns();

}  // namespace saccade
