// Options that a run has no use for: nothing is read and ignored.
#pragma once

#include "app/options/table.h"

namespace saccade {

// Throws OptionError for an option that was typed and has no effect on what the others ask for. Its default may be
// typed: it asks for nothing. Settings files hold everything, so what comes from one may have no effect.
void check_effects(const Options& options, const GivenValues& given);

}  // namespace saccade
