// Which class of the quarantine an error belongs to.
#pragma once

#include <string_view>

#include "pipeline/error.h"

namespace saccade {

// Of the network or of a disk, to go by the words of FFmpeg and the system: another try may help.
bool is_io(std::string_view what);

// "io" or "input".
const char* class_of(const Fault& fault);

}  // namespace saccade
