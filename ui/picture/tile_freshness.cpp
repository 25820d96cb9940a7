#include "ui/picture/tile_freshness.h"

#include <algorithm>

namespace saccade::ui {
namespace {

constexpr std::int64_t kFade_ns = 1000000000;

}  // namespace

void TileFreshness::note(const Damage& damage, std::int64_t pts_ns) {
  if (grid_ != damage.grid() || pts_ns < now_ns_) {
    grid_ = damage.grid();
    damaged_at_ns_.assign(static_cast<std::size_t>(grid_.count()), pts_ns - kFade_ns);
    values_.assign(damaged_at_ns_.size(), 0);
  }
  now_ns_ = pts_ns;
  damage.for_each([&](int index) { damaged_at_ns_[static_cast<std::size_t>(index)] = pts_ns; });
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::int64_t left_ns = std::clamp<std::int64_t>(damaged_at_ns_[i] + kFade_ns - now_ns_, 0, kFade_ns);
    values_[i] = static_cast<std::uint8_t>(left_ns * 255 / kFade_ns);
  }
}

}  // namespace saccade::ui
