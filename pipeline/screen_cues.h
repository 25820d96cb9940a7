// What the server of a screen says of the person in front of it.
#pragma once

#include <limits>
#include <optional>

#include "kernels/frame_view.h"

namespace saccade {

// At the time of a frame. From a source that is not a screen all of it is missing.
struct ScreenCues {
  // What the pointer points at: the centre of that pixel, 0 to 1 of the frame. NaN: there is no pointer, or it is
  // outside the frame.
  float pointer_u = std::numeric_limits<float>::quiet_NaN(), pointer_v = std::numeric_limits<float>::quiet_NaN();
  bool weigh = false;              // lattice adaptive looks first where the pointer, the focus and typing are
  std::optional<PixelRect> focus;  // the part of the frame in the window that has the keyboard's focus; none: not known
  bool typing = false;             // a key was pressed in the last half second
};

}  // namespace saccade
