// What the viewer says on stdout: a line a picture, or its state as JSON lines.
#pragma once

#include <string>

#include "app/process/exit_code.h"
#include "pipeline/source/frame/frame_source.h"
#include "ui/viewer/viewer.h"

namespace saccade {

// A saved picture.
void print_shot(bool json, const std::string& path, double t_s, const ui::ViewSettings& settings,
                const ui::ViewFacts& facts);

// One line of JSON after each picture drawn, flushed at once: `event`, the time, the settings, the counters; where no
// new frame was drawn also where the panel's controls are, [left, top, right, bottom] in pixels by name.
void print_state(const char* event, const ui::Viewer& viewer);

// What was wrong with the input is said on stderr, but for an error, which was: the log has it.
ExitCode report_end(const SourceConfig& source, const std::string& error, const std::string& damage);

}  // namespace saccade
