// OpenGL's messages into the log.
#pragma once

#include "gpu/gl_context.h"

namespace saccade::ui {

gl::ContextConfig logging_context_config();

}  // namespace saccade::ui
