// The drawing shaders of this folder, embedded at build time with kernels/shared inlined.
#pragma once

#include <string_view>

#include "gpu/gl/objects.h"

namespace saccade {

// The text of NAME_vert.glsl or NAME_frag.glsl, by "NAME_vert" or "NAME_frag", without a #version line.
std::string_view drawing_shader(std::string_view name);

namespace ui {

// NAME_vert and NAME_frag as GLSL 4.50 core. `defines` are whole "#define X 1" lines. Throws gl::GlError with the log.
gl::Program make_drawing_program(std::string_view name, std::string_view defines = {});

}  // namespace ui
}  // namespace saccade
