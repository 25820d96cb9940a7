// Backend cuda on GL's textures: for what draws them, and where the texture is to be written by GL.
#pragma once

#include "pipeline/backend/backend.h"

namespace saccade {

// Throws UnavailableError where this build has no OpenGL, or OpenGL draws with another device.
std::unique_ptr<Texture> make_cuda_gl_texture(const BackendConfig& config, const PyramidLayout& layout);

}  // namespace saccade
