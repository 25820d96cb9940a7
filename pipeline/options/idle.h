// Options that do nothing beside the others or for what is opened: the rules that every caller of a stream shares. Each
// says why in the words of OptionError::naming(); null: the option does something.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "pipeline/options/resolve.h"

namespace saccade {

const char* why_idle(std::string_view option, const StreamOptions& options, StreamUse use);
// Of an input. Looks whether it is a file; opens nothing.
const char* why_idle_for(std::string_view option, const StreamOptions& options, const std::string& uri);
// Of frames that the caller pushes.
const char* why_idle_for_frames(const OptionSpec& option);

// Names of the options that a caller has given.
using GivenOptions = std::set<std::string, std::less<>>;

// Throw OptionError for a given option that is idle. Its default asks for nothing.
void check_given(const StreamOptions& options, const GivenOptions& given);  // StreamUse::kRun
void check_given_for(const StreamOptions& options, const GivenOptions& given, const std::string& uri);
void check_given_for_frames(const StreamOptions& options, const GivenOptions& given);

}  // namespace saccade
