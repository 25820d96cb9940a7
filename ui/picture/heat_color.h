// The heat map's colours for what is drawn in lines: outlines, legends.
#pragma once

#include <imgui.h>

namespace saccade::ui {

// share: of lod_range(), 0..1.
ImU32 heat_color(float share, float alpha);

}  // namespace saccade::ui
