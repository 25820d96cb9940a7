#include "kernels/cuda/plan_on_device.h"

#include <algorithm>
#include <cstring>

#include "kernels/shared/fovea.h"

namespace saccade::cuda {

static_assert(sizeof(PatchRecord) == 16 && sizeof(PlaceRecord) == 32);

void PlanOnDevice::send(const PatchPlan& plan, std::span<const PlaceRecord> places, std::span<const float> geometry,
                        cudaStream_t stream) {
  const bool same_plan = plan.patch_size == patch_size_ && plan.patches == patches_;
  if (same_plan && (places.empty() || std::ranges::equal(places, places_, same_place))) return;
  const std::size_t count = plan.count();
  const std::size_t records_bytes = count * sizeof(PatchRecord);
  const std::size_t bytes = records_bytes + places.size_bytes() + geometry.size_bytes();
  std::uint8_t* const to = uploads_.next(bytes);
  const std::size_t most = count * (sizeof(PatchRecord) + sizeof(PlaceRecord) + 4 * sizeof(float));
  if (block_.size_bytes() < most) block_ = CudaBuffer(device_, most);
  auto* const records = reinterpret_cast<PatchRecord*>(to);
  for (std::size_t n = 0; n < count; ++n) {
    const Patch& patch = plan.patches[n];
    records[n] = {patch.x_px, patch.y_px, patch.lod, patch.coverage > 0.0f ? shared::exp2(patch.lod) : 0.0f};
  }
  if (!places.empty()) {
    std::memcpy(to + records_bytes, places.data(), places.size_bytes());
    std::memcpy(to + records_bytes + places.size_bytes(), geometry.data(), geometry.size_bytes());
  }
  uploads_.send(block_.data(), bytes, stream);
  patches_ = plan.patches;
  patch_size_ = plan.patch_size;
  places_.assign(places.begin(), places.end());
}

}  // namespace saccade::cuda
