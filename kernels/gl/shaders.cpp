#include "kernels/gl/shaders.h"

#include <fmt/format.h>

namespace saccade {

gl::Program make_compute_program(std::string_view name, std::string_view defines) {
  const std::string_view body = embedded_shader(name);
  if (body.empty()) throw gl::GlError(fmt::format("no compute shader is named '{}'", name));
  const std::string text = fmt::format("#version 450 core\n{}#line 1\n{}", defines, body);
  return gl::Program(name, {{GL_COMPUTE_SHADER, text}});
}

}  // namespace saccade
