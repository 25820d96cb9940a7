// Backend cuda on GL's textures: for uploads through pixel buffers, and for what draws them.
#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/gl/context.h"
#include "gpu/interop/gl_textures.h"
#include "kernels/interop/cuda_gl_pyramid.h"
#include "pipeline/backend/cuda_backend.h"
#include "pipeline/backend/gl_log.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kDevice = 0;  // the one that everything runs on: CUDA's current device

void check_same_card(const gl::Context& context) {
  if (cuda_device_of_current_gl() == kDevice) return;
  throw UnavailableError(
      fmt::format("backend cuda: OpenGL draws with another device ({})", context.capabilities().renderer),
      Hint::kGlBackend);
}

}  // namespace

BackendParts make_cuda_gl_backend(const BackendConfig& config, const PyramidLayout& layout) {
  BackendParts parts;
  share_primary_context();
  const gl::Context* context = config.gl;
  if (context == nullptr) {
    gl::ContextConfig wanted = logging_context_config(config.log);
    wanted.cuda_device = kDevice;
    auto own = std::make_shared<gl::Context>(gl::Context::offscreen(std::move(wanted)));
    context = own.get();
    parts.context = std::move(own);
  }
  check_same_card(*context);
  auto pyramid = std::make_unique<CudaGlPyramid>(*context, layout, config.upload, GlSharing::kAuto, config.calibrate);
  if (!pyramid->why_copied().empty()) {
    config.log.warn("backend cuda: OpenGL draws copies, through a pixel buffer, for its textures can't be shared: {}",
                    pyramid->why_copied());
  }
  if (pyramid->path() == UploadPath::kPbo) {
    parts.differ = std::make_unique<CudaGlTileDiffer>(*pyramid, config.diff);
  } else {
    work_on_card(parts, pyramid->cuda(), config);
  }
  parts.pyramid = std::move(pyramid);
  return parts;
}

}  // namespace saccade
