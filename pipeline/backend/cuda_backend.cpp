// Backend cuda: texture, differ and levels on a device.
#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/texture.h"
#include "pipeline/backend/backend.h"
#include "pipeline/backend/cuda_gl_backend.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::size_t kBatchesKept = 16;  // more than a dump has on their way

std::string why_not(int device) {
  const CudaStatus status = query_cuda();
  if (!status.error.empty()) return status.error;
  const int count = static_cast<int>(status.devices.size());
  if (device < 0 || device >= count) {
    return count == 1 ? fmt::format("there is no device {}: the only one is 0", device)
                      : fmt::format("there is no device {}: there are {}, 0 to {}", device, count, count - 1);
  }
  try {
    static_cast<void>(cuda::sampler_can_wait(device));
  } catch (const CudaError& error) {
    const CudaDevice& found = status.devices[static_cast<std::size_t>(device)];
    return fmt::format("this build can't use the {}, of compute capability {}.{}: {}", found.name, found.compute_major,
                       found.compute_minor, error.what());
  }
  return {};
}

std::unique_ptr<Texture> make(const BackendConfig& config, const PyramidLayout& layout) {
  if (config.upload == UploadPath::kPbo || config.gl != nullptr) return make_cuda_gl_texture(config, layout);
  return std::make_unique<CudaTexture>(layout, CudaTextureConfig{.diff = config.diff,
                                                                 .staged = config.staged,
                                                                 .device = config.device,
                                                                 .kept_batches = config.kept ? kBatchesKept : 0,
                                                                 .host_frames = config.frames == MemorySpace::kHost});
}

}  // namespace

#if !defined(SACCADE_GL)
std::unique_ptr<Texture> make_cuda_gl_texture(const BackendConfig&, const PyramidLayout&) {
  throw UnavailableError(OfOption("upload", name(UploadPath::kPbo)), "this build has no OpenGL (SACCADE_GL)",
                         Hint::kDirectUpload);
}
#endif

const BackendRow kCudaRow{Backend::kCuda, "cuda", kCudaTraits, why_not, make};

}  // namespace saccade
