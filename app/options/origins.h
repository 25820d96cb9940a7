// How the user knows an option that an error is about.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/options/table.h"

namespace saccade {

// "--e0" or "-o" as it is typed; "saccade.toml:3: e0" where it was read from a file. Any thread.
std::string origin_of(std::string_view option);

// As it is typed, wherever its value came from.
std::string flag_of(std::string_view option);

// What this process's command line and file gave. Before threads begin; a second call replaces the first.
void remember_origins(const GivenValues& given);
// Likewise of a process whose options another one was given: what origin_of() answers, by the option's name.
void remember_places(std::map<std::string, std::string> places);

}  // namespace saccade
