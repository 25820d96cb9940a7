// What the viewer says on stdout: a line a picture, or its state as JSON lines.
#pragma once

#include <string>

#include "ui/view_state.h"

namespace saccade {

// A saved picture.
void print_shot(bool json, const std::string& path, double t_s, const ui::ViewSettings& settings,
                const ui::ViewFacts& facts);

// One line of JSON after each picture drawn, flushed at once: `event`, the time, the settings, the counters.
void print_state(const char* event, const ui::ViewSettings& settings, const ui::ViewFacts& facts);

}  // namespace saccade
