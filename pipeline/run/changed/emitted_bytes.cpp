#include "pipeline/run/changed/emitted_bytes.h"

#include <cstring>

namespace saccade {

std::shared_ptr<EmittedBytes> EmittedBytes::of(const Lattice& lattice, int patch_size, const SampleFormat& format) {
  return lattice.samples_texels() ? std::make_shared<EmittedBytes>(lattice.patch_count(), patch_size, format) : nullptr;
}

EmittedBytes::EmittedBytes(std::size_t patches_per_emission, int patch_size, const SampleFormat& format)
    : places_(patches_per_emission, patch_size, format) {
  if (places_.slots() > 0)
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(places_.slots() * places_.patch_bytes());
}

void EmittedBytes::settle(const PatchPlan& plan, const PatchBatch& batch, std::span<std::uint8_t> changed) {
  const std::size_t patch_bytes = places_.patch_bytes();
  places_.begin();
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const auto [index, known] = places_.take(plan.patches[n], EmittedPlaces::Sharing::kAllowed);
    if (index < 0 || (known && changed[n] == 0)) continue;
    std::byte* const last = bytes_.get() + static_cast<std::size_t>(index) * patch_bytes;
    const std::byte* const now = batch.patch(n).data();
    if (known && std::memcmp(last, now, patch_bytes) == 0) {
      changed[n] = 0;
    } else {
      std::memcpy(last, now, patch_bytes);
    }
  }
}

}  // namespace saccade
