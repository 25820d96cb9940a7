// The background of a panel: filled, not blended, so that the picture need not be drawn below it.
#pragma once

#include <imgui.h>

#include "ui/picture/pixel_rects.h"

namespace saccade::ui {

// Lives until the frame is drawn: ImGui's list points to it.
class OpaqueArea {
 public:
  // To be called in an ImGui window without a background of its own, before anything is drawn into it. It fills the
  // whole window, which lies on whole pixels.
  void fill_window();
  const PixelRect& rect() const { return rect_; }

 private:
  static void clear(const ImDrawList* list, const ImDrawCmd* command);
  PixelRect rect_;
  int display_height_px_ = 0;
};

}  // namespace saccade::ui
