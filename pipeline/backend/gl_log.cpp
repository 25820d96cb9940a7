#include "pipeline/backend/gl_log.h"

#include <spdlog/spdlog.h>

namespace saccade {

gl::ContextConfig logging_context_config() {
  gl::ContextConfig config;
  config.sink = [](const gl::DebugMessage& message) {
    if (message.error) {
      spdlog::error("OpenGL: {}", message.text);
    } else {
      spdlog::debug("OpenGL: {}", message.text);
    }
  };
  return config;
}

}  // namespace saccade
