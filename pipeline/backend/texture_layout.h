// The texture's layout for a stream's frames, or why there is none.
#pragma once

#include "kernels/pyramid_layout.h"

namespace saccade {

// Throws InputError: the frame's size, the limit, what would help.
PyramidLayout texture_layout(int width_px, int height_px, PixelLayout layout, int levels);

}  // namespace saccade
