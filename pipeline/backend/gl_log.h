// OpenGL's messages into the log.
#pragma once

#include "gpu/gl/context.h"

namespace saccade {

gl::ContextConfig logging_context_config();

}  // namespace saccade
