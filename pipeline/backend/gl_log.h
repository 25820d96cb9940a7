// OpenGL's messages into the log.
#pragma once

#include "gpu/gl/context.h"
#include "pipeline/log.h"

namespace saccade {

gl::ContextConfig logging_context_config(const Log& log);

}  // namespace saccade
