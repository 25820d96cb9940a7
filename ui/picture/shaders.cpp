#include "ui/picture/shaders.h"

#include <fmt/format.h>

#include <string>

namespace saccade::ui {
namespace {

std::string whole_shader(const std::string& name, std::string_view defines) {
  const std::string_view body = drawing_shader(name);
  if (body.empty()) throw gl::GlError(fmt::format("no drawing shader is named '{}'", name));
  return fmt::format("#version 450 core\n{}#line 1\n{}", defines, body);
}

}  // namespace

gl::Program make_drawing_program(std::string_view name, std::string_view defines) {
  const std::string vertex = whole_shader(fmt::format("{}_vert", name), defines);
  const std::string fragment = whole_shader(fmt::format("{}_frag", name), defines);
  return gl::Program(name, {{GL_VERTEX_SHADER, vertex}, {GL_FRAGMENT_SHADER, fragment}});
}

}  // namespace saccade::ui
