// The log: spdlog's default logger, on stderr, one line a message.
#pragma once

#include <string>

#include "pipeline/log.h"

namespace saccade {

// level: trace, debug, info, warn, error or off. Call once, before other threads start.
void init_log(const std::string& level);

// The same for the library's messages. After init_log().
Log app_log();

}  // namespace saccade
