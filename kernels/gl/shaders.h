// The compute shaders of this folder, embedded at build time with kernels/shared inlined.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/gl/objects.h"

namespace saccade {

// The text of kernels/gl/NAME.comp without a #version line; empty when there is none of that name.
std::string_view embedded_shader(std::string_view name);

// Compiles one of them as GLSL 4.50 core. `defines` are whole "#define X 1" lines. Throws gl::GlError with the log.
gl::Program make_compute_program(std::string_view name, std::string_view defines = {});

// One work group of the current program for `per_group` items; a second dimension where one is not allowed that many.
void dispatch_compute(std::uint32_t items, std::uint32_t per_group);

}  // namespace saccade
