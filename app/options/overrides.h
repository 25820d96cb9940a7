// Where the command line and a settings file speak of the same thing by different options.
#pragma once

#include "app/options/table.h"

namespace saccade {

// Takes out of `file` what conflicts with an option that was typed: the command line overrides it. Conflicts within one
// of them stay, for check_options().
void drop_overridden(GivenValues& file, const GivenValues& line);

}  // namespace saccade
