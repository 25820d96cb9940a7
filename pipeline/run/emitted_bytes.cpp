#include "pipeline/run/emitted_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "pipeline/run/patch_history.h"
#include "pipeline/run/pipeline.h"

namespace saccade {
namespace {

constexpr std::size_t kEmissionsRemembered = 32;
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::size_t kWays = 4;

}  // namespace

std::shared_ptr<EmittedBytes> EmittedBytes::of(const Lattice& lattice, int patch_size, const SampleFormat& format) {
  return lattice.samples_texels() ? std::make_shared<EmittedBytes>(lattice.patch_count(), patch_size, format) : nullptr;
}

EmittedBytes::EmittedBytes(std::size_t patches_per_emission, int patch_size, const SampleFormat& format)
    : patches_(patches_per_emission),
      patch_size_(patch_size),
      format_(format),
      patch_bytes_(PatchBatch::bytes_of(1, patch_size, format)) {
  const std::size_t most = std::bit_floor(kMostBytes / patch_bytes_);
  if (most < 2 * patches_per_emission || most < kWays) return;
  places_.resize(std::min(std::bit_ceil(std::max(kEmissionsRemembered * patches_per_emission, kWays)), most));
  bucket_mask_ = places_.size() / kWays - 1;
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(places_.size() * patch_bytes_);
}

bool EmittedBytes::fits(std::size_t patches_per_emission, int patch_size, const SampleFormat& format) const {
  return patches_per_emission == patches_ && patch_size == patch_size_ && format == format_;
}

void EmittedBytes::forget() {
  std::fill(places_.begin(), places_.end(), Place{});
  emission_ = 0;
}

// The patch's place, or the one that is given up for it.
std::size_t EmittedBytes::find(const Patch& patch, bool& known) {
  const std::size_t bucket = (place_hash(patch) & bucket_mask_) * kWays;
  std::size_t oldest = bucket;
  for (std::size_t i = bucket; i < bucket + kWays; ++i) {
    const Place& place = places_[i];
    known = place.used != 0 && place.x_px == patch.x_px && place.y_px == patch.y_px && place.lod == patch.lod;
    if (known) return i;
    if (place.used < places_[oldest].used) oldest = i;
  }
  return oldest;
}

void EmittedBytes::settle(const PatchPlan& plan, const PatchBatch& batch, std::span<std::uint8_t> changed) {
  if (places_.empty()) return;
  if (emission_ == std::numeric_limits<std::uint32_t>::max()) forget();
  ++emission_;
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    if (patch.coverage <= 0) continue;  // the same bytes for ever
    bool known = false;
    const std::size_t place = find(patch, known);
    std::byte* const last = bytes_.get() + place * patch_bytes_;
    const std::byte* const now = batch.patch(n).data();
    places_[place] = {patch.x_px, patch.y_px, patch.lod, emission_};
    if (known && changed[n] == 0) continue;
    if (known && std::memcmp(last, now, patch_bytes_) == 0) {
      changed[n] = 0;
    } else {
      std::memcpy(last, now, patch_bytes_);
    }
  }
}

void settle(Emission& emission) {
  emission.batch.wait();
  if (const auto memory = std::exchange(emission.unsettled, nullptr)) {
    memory->settle(emission.plan, emission.batch, emission.changed);
  }
}

}  // namespace saccade
