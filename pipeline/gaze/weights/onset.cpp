#include "pipeline/gaze/weights/onset.h"

#include <algorithm>
#include <limits>

namespace saccade {
namespace {

constexpr std::int64_t kFreshNs = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;
constexpr Weight kOld = kFullWeight / 4;

}  // namespace

Onset::Onset(TileGrid grid) : changed_ns_(static_cast<std::size_t>(grid.count()), kNever) {}

void Onset::note(std::int64_t pts_ns, const Damage& damage) {
  if (damage.all()) return;
  damage.for_each([&](int tile) { changed_ns_[static_cast<std::size_t>(tile)] = pts_ns; });
}

void Onset::weigh(std::int64_t pts_ns, std::span<Weight> weights) const {
  for (std::size_t tile = 0; tile < weights.size(); ++tile) {
    if (pts_ns - changed_ns_[tile] > kFreshNs) weights[tile] = product(weights[tile], kOld);
  }
}

void Onset::forget() { std::fill(changed_ns_.begin(), changed_ns_.end(), kNever); }

}  // namespace saccade
