#include "pipeline/backend/cuda_gl_backend.h"

#include <fmt/format.h>

#include "gpu/gl/context.h"
#include "gpu/interop/gl_textures.h"
#include "kernels/interop/texture.h"
#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

void check_same_device(const gl::Context& context, int device) {
  if (cuda_device_of_current_gl() == device) return;
  throw UnavailableError(
      fmt::format("backend cuda: OpenGL draws with another device ({})", context.capabilities().renderer),
      Hint::kGlBackend);
}

}  // namespace

std::unique_ptr<Texture> make_cuda_gl_texture(const BackendConfig& config, const PyramidLayout& layout) {
  CudaGlTextureConfig wanted;
  const bool host_frames = config.upload != UploadPath::kPbo && config.frames == MemorySpace::kHost;
  wanted.cuda = {config.diff, config.staged, config.device, 0, host_frames};
  wanted.upload = config.upload;
  wanted.calibrate = config.calibrate;
  std::unique_ptr<CudaGlTexture> texture;
  if (config.gl != nullptr) {
    check_same_device(*config.gl, config.device);
    texture = std::make_unique<CudaGlTexture>(*config.gl, layout, wanted);
  } else {
    gl::ContextConfig offscreen = logging_context_config(config.log);
    offscreen.cuda_device = config.device;
    auto own = std::make_unique<gl::Context>(gl::Context::offscreen(std::move(offscreen)));
    check_same_device(*own, config.device);
    texture = std::make_unique<CudaGlTexture>(std::move(own), layout, wanted);
  }
  if (!texture->why_copied().empty()) {
    config.log.warn("backend cuda: OpenGL draws copies, through a pixel buffer, for its textures can't be shared: {}",
                    texture->why_copied());
  }
  return texture;
}

}  // namespace saccade
