// How the user knows an option that an error is about.
#pragma once

#include <string>
#include <string_view>

#include "app/options/table.h"

namespace saccade {

// "--e0" or "-o" as it is typed; "saccade.toml:3: e0" where it was read from a file. Any thread.
std::string origin_of(std::string_view option);

// What this process's command line and file gave. Before threads begin; a second call replaces the first.
void remember_origins(const GivenValues& given);

}  // namespace saccade
