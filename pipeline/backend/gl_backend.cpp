// Backend gl: the texture in OpenGL, with its level 0 in host memory as well, where frames are compared.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "gpu/gl/context.h"
#include "kernels/gl/texture.h"
#include "pipeline/backend/backend.h"
#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

std::string why_not(int) {
  try {
    static_cast<void>(gl::Context::offscreen(logging_context_config({})));
    return {};
  } catch (const std::bad_alloc&) {  // says nothing of OpenGL
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

void check_size(const gl::Context& context, const PyramidLayout& layout) {
  const int limit = context.capabilities().max_texture_size;
  if (layout.planes[0].width <= limit && layout.planes[0].height <= limit) return;
  throw InputError(fmt::format("a frame of {}x{} pixels is larger than this OpenGL's largest texture, {}x{}",
                               layout.width_px, layout.height_px, limit, limit),
                   Hint::kSmallerFrameOrCpu);
}

std::unique_ptr<Texture> make(const BackendConfig& config, const PyramidLayout& layout) {
  GlTextureConfig wanted;
  wanted.upload = config.upload;
  wanted.diff = config.diff;
  if (!config.calibrate) wanted.cost = UploadCost{};
  if (config.gl != nullptr) {
    check_size(*config.gl, layout);
    return std::make_unique<GlTexture>(*config.gl, layout, wanted);
  }
  auto own = std::make_unique<gl::Context>(gl::Context::offscreen(logging_context_config(config.log)));
  check_size(*own, layout);
  return std::make_unique<GlTexture>(std::move(own), layout, wanted);
}

}  // namespace

const BackendRow kGlRow{Backend::kGl, "gl", kGlTraits, why_not, make};

}  // namespace saccade
