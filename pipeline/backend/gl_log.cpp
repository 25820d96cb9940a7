#include "pipeline/backend/gl_log.h"

namespace saccade {

gl::ContextConfig logging_context_config(const Log& log) {
  gl::ContextConfig config;
  config.sink = [log](const gl::DebugMessage& message) {
    if (message.error) {
      log.error("OpenGL: {}", message.text);
    } else {
      log.debug("OpenGL: {}", message.text);
    }
  };
  return config;
}

}  // namespace saccade
