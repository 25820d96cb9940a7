// What the server of a screen says of the person in front of it.
#pragma once

#include <limits>

#include "kernels/frame_view.h"

namespace saccade {

// At the time of a frame. From a source that is not a screen all of it is missing.
struct ScreenCues {
  // What the pointer points at: the centre of that pixel, 0 to 1 of the frame. NaN: there is no pointer, or it is
  // outside the frame.
  float pointer_u = std::numeric_limits<float>::quiet_NaN(), pointer_v = std::numeric_limits<float>::quiet_NaN();
};

}  // namespace saccade
