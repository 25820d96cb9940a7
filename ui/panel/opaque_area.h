// The background of a panel: beside the picture filled, not blended, so that nothing need be drawn below it; over the
// picture nearly so.
#pragma once

#include <imgui.h>

#include "ui/picture/pixel_rects.h"

namespace saccade::ui {

// Lives until the frame is drawn: ImGui's list points to it.
class OpaqueArea {
 public:
  // To be called in an ImGui window without a background of its own, before anything is drawn into it. It fills the
  // whole window, which lies on whole pixels.
  void fill_window(bool opaque = true);
  const PixelBox& rect() const { return rect_; }
  bool opaque() const { return opaque_; }

 private:
  static void clear(const ImDrawList* list, const ImDrawCmd* command);
  PixelBox rect_;
  bool opaque_ = true;
  int display_height_px_ = 0;
};

}  // namespace saccade::ui
