// The graph of frame times: from one shown frame to the next, and the work in it.
#pragma once

#include "ui/picture/view_state.h"

namespace saccade::ui {

// Into the ImGui window that is begun, as wide as it is: 0 to 50 ms, with lines at 60 and 30 frames a second.
void draw_frame_graph(const ViewFacts& facts);

}  // namespace saccade::ui
