// What "screen:" names: a display of X11, and the part of it that is captured.
#pragma once

#include <optional>
#include <string>

#include "kernels/frame_view.h"

namespace saccade {

// screen:DISPLAY?region=X,Y,W,H&pointer=no. At most one of region, window and output is set.
struct ScreenName {
  std::string display;              // ":0"; empty: $DISPLAY
  std::optional<PixelRect> region;  // of the screen, in its pixels
  std::string window;               // its number, as xwininfo prints it, or its title
  std::string output;               // a monitor's, as xrandr prints it
  bool pointer = true;              // drawn
  double rate = 30;                 // frames a second, at most
};

// uri: begins with "screen:". Throws UsageError.
ScreenName parse_screen_name(const std::string& uri);

}  // namespace saccade
