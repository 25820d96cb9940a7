// A picture of ours as a frame that a pipeline takes.
#pragma once

#include <cstdint>

#include "kernels/picture/rgb_image.h"
#include "pipeline/source/frame/frame.h"

namespace saccade {

// A copy, in PixelLayout::kRgba8. sar: the width of a pixel over its height. Throws std::bad_alloc.
Frame rgb_frame(const RgbImage& image, float sar, std::int64_t pts_ns, std::int64_t sequence);

}  // namespace saccade
