#include "kernels/gl/shaders.h"

#include <fmt/format.h>

#include <algorithm>

namespace saccade {

gl::Program make_compute_program(std::string_view name, std::string_view defines) {
  const std::string_view body = embedded_shader(name);
  if (body.empty()) throw gl::GlError(fmt::format("no compute shader is named '{}'", name));
  const std::string text = fmt::format("#version 450 core\n{}#line 1\n{}", defines, body);
  return gl::Program(name, {{GL_COMPUTE_SHADER, text}});
}

void dispatch_compute(std::uint32_t items, std::uint32_t per_group) {
  constexpr std::uint32_t kMostGroups = 65535;
  const std::uint32_t groups = (items + per_group - 1) / per_group;
  const std::uint32_t columns = std::min(groups, kMostGroups);
  glDispatchCompute(columns, (groups + columns - 1) / columns, 1);
}

}  // namespace saccade
