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

// One connection to the display that config.uri names. Its frames are RGBA and come at most as often as the name's
// rate; of a screen that stands still one comes four times a second, and says that it is the same. Frames have a
// may_differ. size: of the picture; else what is captured has its own. Throws InputError, UsageError, UnavailableError.
std::unique_ptr<FrameSource> open_screen(const SourceConfig& config, std::optional<ScreenSize> size);

// What can be captured.
struct ScreenPart {
  std::string uri;    // as open_screen() takes it
  std::string title;  // of a window, else what it is
  int width_px = 0, height_px = 0;
  std::string fault = {};  // why it can't be
};
// Of $DISPLAY: the screen, its outputs and windows. Empty where that is not set.
std::vector<ScreenPart> list_screen();

}  // namespace saccade
