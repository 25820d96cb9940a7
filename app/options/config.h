// The TOML file: the options' own names as keys, at the top or in a table named after a command.
#pragma once

#include <string>

#include "app/options/table.h"

namespace saccade {

// Reads what the file says for `command`; a [command] table wins over the top. Keys of other commands are checked for
// being known, then passed over. Throws UsageError that names file, line and key.
GivenValues read_config(const std::string& path, Command command);

// The options in force as TOML, which read_config reads back to the same.
std::string write_config(Command command, const GivenValues& in_force);

// The option with the name nearest to a misspelt one, among a command's; null: none is near.
const OptionSpec* nearest_option(std::string_view misspelt, unsigned commands);

}  // namespace saccade
