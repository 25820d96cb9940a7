// The program's log: spdlog's logger on stderr, one line a message; the library's messages go there, too.
#pragma once

#include <string>

#include "pipeline/log.h"

namespace saccade {

// level: trace, debug, info, warn, error or off. Call once, before other threads start. What it returns writes the
// library's messages into the log, from any thread.
Log init_log(const std::string& level);

}  // namespace saccade
