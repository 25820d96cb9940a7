// What options of the program can't go together. Those of a stream: pipeline/options/resolve.h.
#pragma once

#include "app/options/table.h"

namespace saccade {

// Throws OptionError that names the options and what to leave out.
void check_conflicts(const Options& options);

// The inputs and the output a command needs. Fills what is derived from them. Throws UsageError.
void check_inputs(Options& options);

}  // namespace saccade
