// The panel's own words for what the command line names otherwise.
#pragma once

#include <string>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"
#include "ui/picture/view.h"

namespace saccade::ui {

// recorded: of a dump, whose frames are what its patches hold.
const char* in_words(View view, bool recorded = false);
const char* in_words(LatticeKind kind);
const char* in_words(FixationPolicy policy);

// A fault of the pipeline, in one line. A setting that it is about has the panel's label in place of its option's name.
std::string in_panel_words(const Fault& fault);

}  // namespace saccade::ui
