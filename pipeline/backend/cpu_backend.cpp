// Backend cpu: always there.
#include "kernels/cpu/texture.h"
#include "pipeline/backend/backend.h"

namespace saccade {
namespace {

std::string why_not(int) { return {}; }

std::unique_ptr<Texture> make(const BackendConfig& config, const PyramidLayout& layout) {
  return std::make_unique<CpuTexture>(layout, config.diff, config.staged);
}

}  // namespace

const BackendRow kCpuRow{Backend::kCpu, "cpu", {.any_thread = true}, why_not, make};

}  // namespace saccade
