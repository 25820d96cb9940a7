#include "kernels/gl/host_samples.h"

#include <algorithm>

namespace saccade {

bool GlHostSamples::submit(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  if (pending() == GlSampler::kSlots) return false;
  PatchBatch& slot = slots_[static_cast<std::size_t>(submitted_ % GlSampler::kSlots)];
  if (slot.count() != plan.count() || slot.patch_size() != plan.patch_size || !(slot.format() == format)) {
    slot = PatchBatch(plan.count(), plan.patch_size, format);
  }
  pyramid_.sample(plan, color, slot);
  ++submitted_;
  return true;
}

bool GlHostSamples::collect(PatchBatch& batch) {
  if (pending() == 0) return false;
  const PatchBatch& slot = slots_[static_cast<std::size_t>(collected_++ % GlSampler::kSlots)];
  require_same_shape(batch, slot.count(), slot.patch_size(), slot.format());
  std::ranges::copy(slot.bytes(), batch.bytes().begin());
  return true;
}

}  // namespace saccade
