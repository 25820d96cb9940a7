// What "screen:" names: a display of X11 or what a Wayland desktop shares, and the part of it that is captured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/frame_view.h"

namespace saccade {

enum class ScreenSystem : std::uint8_t { kX11, kWayland };

// screen:DISPLAY?region=X,Y,W,H&pointer=no. At most one of region, window and output is set.
struct ScreenName {
  ScreenSystem system = ScreenSystem::kX11;
  std::string display;                      // X11: ":0"; empty: $DISPLAY
  std::optional<PixelRect> region;          // of the screen, in its pixels
  std::string window;                       // X11: its number, as xwininfo prints it, or its title. Wayland: "any"
  std::string output;                       // X11: a monitor's, as xrandr prints it. Wayland: "any"
  std::string restore;                      // Wayland: a file that remembers what the person chose
  std::vector<PixelRect> hidden_regions;    // black; of the screen, or of the window
  std::vector<std::string> hidden_windows;  // X11: black; numbers, or parts of titles or of classes
  bool pointer = true;                      // drawn
  bool cues = true;                         // see ScreenCues::weigh
  double rate = 30;                         // frames a second, at most
};

// "windows 'Mail' and the region 0,0,64,64 are black"; empty: nothing is hidden.
std::string describe_hidden(const ScreenName& name);

// uri: begins with "screen:". Without a display $WAYLAND_DISPLAY or $XDG_SESSION_TYPE=wayland mean Wayland.
// Throws UsageError.
ScreenName parse_screen_name(const std::string& uri);

}  // namespace saccade
