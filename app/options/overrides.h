// Where the command line and a settings file speak of the same thing by different options.
#pragma once

#include "app/options/table.h"

namespace saccade {

// Takes out of `file` what contradicts an option that was typed: the command line wins. What contradicts itself within
// one of them stays, for check_options().
void give_way(GivenValues& file, const GivenValues& line);

}  // namespace saccade
