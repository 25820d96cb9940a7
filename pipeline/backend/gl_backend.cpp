// Backend gl: the texture in OpenGL, the differ on its shadow in host memory.
#include <fmt/format.h>

#include "gpu/gl/context.h"
#include "kernels/cpu/tile_differ.h"
#include "kernels/gl/pyramid.h"
#include "pipeline/backend/backend.h"
#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"

namespace saccade {
std::string why_no_gl() {
  try {
    static_cast<void>(gl::Context::offscreen(logging_context_config(Log())));
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

BackendParts make_gl_backend(const BackendConfig& config, const PyramidLayout& layout) {
  BackendParts parts;
  const gl::Context* gl = config.gl;
  if (gl == nullptr) {
    auto own = std::make_shared<gl::Context>(gl::Context::offscreen(logging_context_config(config.log)));
    gl = own.get();
    parts.context = std::move(own);
  }
  const int limit = gl->capabilities().max_texture_size;
  if (layout.planes[0].width > limit || layout.planes[0].height > limit) {
    throw InputError(fmt::format("a frame of {}x{} pixels is larger than this OpenGL's largest texture, {}x{}",
                                 layout.width_px, layout.height_px, limit, limit),
                     Hint::kSmallerFrameOrCpu);
  }
  GlPyramidConfig wanted;
  wanted.upload = config.upload;
  if (!config.calibrate) wanted.cost = UploadCost{};
  auto pyramid = std::make_unique<GlPyramid>(*gl, layout, wanted);
  parts.differ = std::make_unique<CpuTileDiffer>(pyramid->shadow(), config.diff);
  parts.pyramid = std::move(pyramid);
  return parts;
}

}  // namespace saccade
