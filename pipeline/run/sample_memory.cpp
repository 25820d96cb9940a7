#include "pipeline/run/sample_memory.h"

#include <algorithm>
#include <cstring>

namespace saccade {

void SampleMemory::sample(Pyramid& pyramid, const ColorSpec& color, const PatchPlan& plan,
                          std::span<const std::uint8_t> changed, PatchBatch& batch) {
  const std::size_t count = plan.count();
  if (last_.count() != count || last_.patch_size() != batch.patch_size() || last_.format() != batch.format()) {
    last_ = PatchBatch(count, batch.patch_size(), batch.format());
    places_.assign(count, Patch{.lod = -1});  // nowhere
    wanted_.resize(count);
  }
  const std::size_t bytes = batch.patch_bytes();
  for (std::size_t n = 0; n < count; ++n) {
    const bool known = changed[n] == 0 && places_[n] == plan.patches[n];
    wanted_[n] = known ? 0 : 1;
    if (known) std::memcpy(batch.patch(n).data(), last_.patch(n).data(), bytes);
  }
  pyramid.sample_wanted(plan, color, wanted_, batch);
  for (std::size_t n = 0; n < count; ++n) {
    if (wanted_[n] != 0) std::memcpy(last_.patch(n).data(), batch.patch(n).data(), bytes);
  }
  std::copy(plan.patches.begin(), plan.patches.end(), places_.begin());
}

}  // namespace saccade
