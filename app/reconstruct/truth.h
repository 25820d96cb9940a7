// A frame as R'G'B', by the sampler's definition at level of detail 0, but straight from the frame's planes.
#pragma once

#include "kernels/frame_view.h"
#include "kernels/picture/rgb_image.h"

namespace saccade {

// Chroma is interpolated linearly by its site; every sample is rounded once. `out` is resized when the size changes.
void frame_to_rgb(const FrameView& frame, RgbImage& out);

}  // namespace saccade
