// OpenGL's messages into the log.
#pragma once

#include "gpu/gl_context.h"

namespace saccade {

gl::ContextConfig logging_context_config();

}  // namespace saccade
