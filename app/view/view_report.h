// What the viewer says on stdout: a line a picture, or its state as JSON lines.
#pragma once

#include <string>

#include "ui/viewer/viewer.h"

namespace saccade {

// A saved picture.
void print_shot(bool json, const std::string& path, double t_s, const ui::ViewSettings& settings,
                const ui::ViewFacts& facts);

// One line of JSON after each picture drawn, flushed at once: `event`, the time, the settings, the counters; where no
// new frame was drawn also where the panel's controls are, [left, top, right, bottom] in pixels by name.
void print_state(const char* event, const ui::Viewer& viewer);

}  // namespace saccade
