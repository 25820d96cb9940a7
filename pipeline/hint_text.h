// What a hint says, with the name of each option in braces: whoever prints it spells them as its people do.
#pragma once

#include "pipeline/error.h"

namespace saccade {

const char* hint_text(Hint hint);  // "raise {levels}"; empty for kNone

}  // namespace saccade
