// docs/OPTIONS.md, written from the table of options.
#pragma once

#include <string>

namespace saccade {

std::string options_manual();

}  // namespace saccade
