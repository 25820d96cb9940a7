// Errors as the command line tells them: the library's words, then the options that would help.
#pragma once

#include <string>

#include "pipeline/error.h"

namespace saccade {

// "lower --levels". Empty for kNone.
std::string flags(Hint hint);

// "what; flags(hint)", the option in it as the user gave it: one line, without the program's name. All that the program
// prints of an error is made here.
std::string error_text(const Fault& fault);
std::string error_text(const Error& error);

}  // namespace saccade
