// The TOML file: the options' own names as keys, at the top or in a table named after a command.
#pragma once

#include <string>

#include "app/options/table.h"

namespace saccade {

// Reads what the file says for `command`; a [command] table wins over the top. Keys of other commands are checked for
// being known, then passed over. Throws UsageError that names file, line and key.
GivenValues read_config(const std::string& path, Command command);

// The options in force as TOML, which read_config reads back to the same. `only_tunable`: those that
// Pipeline::configure() takes.
std::string write_config(const Options& options, bool only_tunable = false);

}  // namespace saccade
