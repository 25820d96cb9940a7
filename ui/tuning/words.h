// The panel's own words for what the command line names otherwise.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/gaze/lattice.h"
#include "pipeline/gaze/scanpath_policy.h"
#include "ui/picture/view.h"

namespace saccade::ui {

// recorded: of a dump, whose frames are what its patches hold.
const char* in_words(View view, bool recorded = false);
const char* in_words(LatticeKind kind);
const char* in_words(FixationPolicy policy);

// A fault of the pipeline, which calls settings by their options' names, with the panel's labels in their place.
std::string in_panel_words(std::string_view fault);

}  // namespace saccade::ui
