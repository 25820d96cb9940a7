// A screen as a live source: frames when something changed, and how far they differ.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/source/frame/frame_source.h"

namespace saccade {

struct ScreenSize {
  int width_px = 0, height_px = 0;
};

// One connection to the display that config.uri names, or one session of the desktop's portal. Its frames are RGBA and
// come at most as often as the name's rate; of a screen that stands still one comes four times a second, and says that
// it is the same. Frames have a may_differ. size: given when a display is opened again that was lost: the picture's.
// What is unavailable may come back then, and is an InputError, unless the person at the desktop refused. Throws
// InputError, UsageError, UnavailableError, and Error of kind kInterrupted.
std::unique_ptr<FrameSource> open_screen(const SourceConfig& config, std::optional<ScreenSize> size);

// Whether a window with this title, opened on $DISPLAY, can be in the picture. Other inputs: false. Throws UsageError.
bool may_show_window(const std::string& uri, const std::string& title);

// What can be captured.
struct ScreenPart {
  std::string uri;                  // as open_screen() takes it
  std::string title;                // of a window, else what it is
  int width_px = 0, height_px = 0;  // 0: known once the person at the desktop has chosen
  std::string driver = "x11";       // or "pipewire"
  std::string fault = {};           // why it can't be
};
// Of a Wayland desktop what its dialog can be asked for, and of $DISPLAY the screen, its outputs and windows.
std::vector<ScreenPart> list_screen();

}  // namespace saccade
