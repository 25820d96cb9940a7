// Where view `compare` lays its three pictures: pure arithmetic.
#pragma once

#include <array>

#include "ui/picture/picture_mapping.h"
#include "ui/picture/pixel_rects.h"

namespace saccade::ui {

struct Columns {
  std::array<PixelBox, 3> captions, pictures;  // each caption above its picture
};

// Beside each other or below each other, whichever shows them larger. In a small area captions and gaps go first.
Columns lay_columns(const PictureSize& picture, const PixelBox& area, int caption_px, int gap_px);

}  // namespace saccade::ui
