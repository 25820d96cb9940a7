// What is drawn over the picture in lines and text: fixation, trail, scanpath, outlines of patches, and views' boxes.
#pragma once

#include <string_view>

#include "ui/picture/frame_renderer.h"
#include "ui/picture/picture_mapping.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// Between ImguiLayer::begin() and end(); goes below the panel, inside `area`. scale: pixels a point. plan: of the
// outlines; null: none.
void draw_marks(const ViewSettings& settings, const ViewFacts& facts, const Scene& scene, const PatchPlan* plan,
                const PictureMapping& mapping, const PixelBox& area, float scale);

// A line of text in the middle of `area`, cut where that is too small.
void draw_caption(std::string_view words, const PixelBox& area);

}  // namespace saccade::ui
