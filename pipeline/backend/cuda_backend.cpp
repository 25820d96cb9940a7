// Backend cuda: texture, differ and levels on the card.
#include "pipeline/backend/cuda_backend.h"

#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "kernels/cuda/fused_update.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_differ.h"

namespace saccade {

std::string why_no_cuda() {
  const CudaStatus status = query_cuda();
  if (!status.error.empty()) return status.error;
  share_primary_context();
  try {
    static_cast<void>(cuda::sampler_can_wait());
  } catch (const CudaError& error) {
    const CudaDevice& card = status.devices.front();
    return fmt::format("this build can't use the {}, of compute capability {}.{}: {}", card.name, card.compute_major,
                       card.compute_minor, error.what());
  }
  return {};
}

void work_on_card(BackendParts& parts, CudaPyramid& texture, const BackendConfig& config) {
  if (config.frames == MemorySpace::kHost) texture.reserve_for_host_frames();
  parts.differ = std::make_unique<CudaTileDiffer>(texture, config.diff);
  if (!config.staged) parts.fused = std::make_unique<CudaFusedUpdate>(texture, config.diff);
  texture.set_staged(config.staged);
}

BackendParts make_cuda_backend(const BackendConfig& config, const PyramidLayout& layout) {
  if (config.upload == UploadPath::kPbo || config.gl != nullptr) return make_cuda_gl_backend(config, layout);
  BackendParts parts;
  share_primary_context();
  auto pyramid = std::make_unique<CudaPyramid>(layout);
  work_on_card(parts, *pyramid, config);
  parts.pyramid = std::move(pyramid);
  return parts;
}

}  // namespace saccade
