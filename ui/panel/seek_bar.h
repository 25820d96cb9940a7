// The bar at the window's bottom: play, step, where in the stream, how fast.
#pragma once

#include "ui/panel/opaque_area.h"
#include "ui/panel/overlay_text.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

inline constexpr float kSeekBarPoints = 34;  // its height

class SeekBar {
 public:
  // A window of its own over the bottom of a display of this size. A seek is asked for when the mouse is let go.
  void draw(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note);
  void hide(ViewRequests& requests);                     // it is not drawn, so it can't be held
  const PixelBox& area() const { return area_.rect(); }  // that draw() hides

 private:
  void buttons(ViewSettings& settings, const ViewFacts& facts, ViewRequests& requests, const Note& note);
  void track(const ViewFacts& facts, ViewRequests& requests, float width, const Note& note);
  OpaqueArea area_;
  bool dragging_ = false;
  std::int64_t sought_ns_ = 0;  // by the drag, last
};

}  // namespace saccade::ui
