// What colours mean, in a strip below the picture: level of detail, how lately a tile changed.
#pragma once

#include "ui/panel/opaque_area.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

inline constexpr float kLegendPoints = 36;  // its height

// Does anything that is drawn need one?
bool needs_legend(const ViewSettings& settings, const ViewFacts& facts);

class Legend {
 public:
  // A window of its own over `area`, in pixels.
  void draw(const ViewSettings& settings, const ViewFacts& facts, const PixelBox& area);
  const PixelBox& area() const { return area_.rect(); }  // that draw() hides

 private:
  OpaqueArea area_;
};

}  // namespace saccade::ui
