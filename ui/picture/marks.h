// What is drawn over the picture in lines and text: fixation, trail, scanpath, patch outlines, the heat map's legend.
#pragma once

#include "ui/picture/frame_renderer.h"
#include "ui/picture/picture_mapping.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// Between ImguiLayer::begin() and end(); goes below the panel, inside `area`. scale: pixels a point.
void draw_marks(const ViewSettings& settings, const ViewFacts& facts, const Scene& scene, const PictureMapping& mapping,
                const PixelRect& area, float scale);

}  // namespace saccade::ui
