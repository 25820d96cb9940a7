#include "pipeline/run/changed/emitted_places.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "pipeline/run/changed/patch_history.h"

namespace saccade {
namespace {

constexpr std::size_t kEmissionsRemembered = 32;
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::size_t kWays = 4;

}  // namespace

EmittedPlaces::EmittedPlaces(std::size_t patches_per_emission, int patch_size, const SampleFormat& format)
    : patches_(patches_per_emission),
      patch_size_(patch_size),
      format_(format),
      patch_bytes_(PatchBatch::bytes_of(1, patch_size, format)) {
  const std::size_t most = std::bit_floor(kMostBytes / patch_bytes_);
  if (most < 2 * patches_per_emission || most < kWays) return;
  places_.resize(std::min(std::bit_ceil(std::max(kEmissionsRemembered * patches_per_emission, kWays)), most));
  bucket_mask_ = places_.size() / kWays - 1;
}

bool EmittedPlaces::fits(std::size_t patches_per_emission, int patch_size, const SampleFormat& format) const {
  return patches_per_emission == patches_ && patch_size == patch_size_ && format == format_;
}

void EmittedPlaces::forget() {
  std::fill(places_.begin(), places_.end(), Place{});
  emission_ = 0;
}

void EmittedPlaces::begin() {
  if (emission_ == std::numeric_limits<std::uint32_t>::max()) forget();
  ++emission_;
}

// The place's own slot, or the one of the bucket that was used longest ago.
EmittedPlaces::Slot EmittedPlaces::take(const Patch& patch, Sharing sharing) {
  if (places_.empty() || patch.coverage <= 0) return {};
  const std::size_t bucket = (place_hash(patch) & bucket_mask_) * kWays;
  std::size_t at = bucket;
  bool known = false;
  for (std::size_t i = bucket; i < bucket + kWays && !known; ++i) {
    const Place& place = places_[i];
    known = place.used != 0 && place.x_px == patch.x_px && place.y_px == patch.y_px && place.lod == patch.lod;
    if (known || place.used < places_[at].used) at = i;
  }
  if (sharing == Sharing::kRefused && places_[at].used == emission_) return {};
  places_[at] = {patch.x_px, patch.y_px, patch.lod, emission_};
  return {static_cast<std::int32_t>(at), known};
}

void EmittedPlaces::take_all(const PatchPlan& plan, std::vector<PlaceRecord>& records) {
  begin();
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Slot slot = take(plan.patches[n], Sharing::kRefused);
    records[n].slot = slot.index;
    records[n].slot_known = slot.known ? 1 : 0;
  }
}

}  // namespace saccade
