// What a page is told of the viewer, as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "ui/picture/view_state.h"

namespace saccade::ui {

struct PageFacts {
  int width_px = 0, height_px = 0;
  std::uint32_t applied = 0;  // the driver's last input
  int rung = 0;
  bool quality_fixed = false;
  const char* cursor = "default";
  bool typing = false;      // the panel wants the keyboard
  bool escape = false;      // something is open that Escape closes
  bool fullscreen = false;  // it was asked for since the last time
};

std::string page_state(const ViewSettings& settings, const ViewFacts& facts, const PageFacts& page);
// Text for the driver's clipboard; what: in words.
std::string page_clipboard(const std::string& what, const std::string& text);

}  // namespace saccade::ui
