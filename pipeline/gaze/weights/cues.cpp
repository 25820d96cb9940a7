#include "pipeline/gaze/weights/cues.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saccade {
namespace {

constexpr std::int64_t kFreshNs = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;
constexpr int kMostTyped = 256;
constexpr int kAround_px = 64;
constexpr Weight kNear = kFullWeight / 4, kElsewhere = kFullWeight / 16;

// Calls f(index) for each tile that the rectangle touches.
template <typename F>
void for_each_tile(const PixelRect& rect, TileGrid grid, F&& f) {
  const int right = std::min((rect.x + rect.width - 1) / kTilePx, grid.cols - 1);
  const int bottom = std::min((rect.y + rect.height - 1) / kTilePx, grid.rows - 1);
  for (int y = std::max(rect.y, 0) / kTilePx; y <= bottom; ++y) {
    for (int x = std::max(rect.x, 0) / kTilePx; x <= right; ++x) f(y * grid.cols + x);
  }
}

}  // namespace

Cues::Cues(TileGrid grid, int width_px, int height_px)
    : grid_(grid),
      width_px_(width_px),
      height_px_(height_px),
      typed_ns_(static_cast<std::size_t>(grid.count()), kNever),
      places_(typed_ns_.size()) {}

void Cues::note(std::int64_t pts_ns, const Damage& damage, const ScreenCues& cues) {
  now_ = cues;
  if (!cues.weigh || !cues.focus || !cues.typing) return;
  int changed = 0;
  for_each_tile(*cues.focus, grid_, [&](int tile) { changed += damage.test(tile) ? 1 : 0; });
  if (changed > kMostTyped) return;
  for_each_tile(*cues.focus, grid_, [&](int tile) {
    if (damage.test(tile)) typed_ns_[static_cast<std::size_t>(tile)] = pts_ns;
  });
}

void Cues::weigh(std::int64_t pts_ns, std::span<Weight> weights) {
  const bool points = !std::isnan(now_.pointer_u);
  if (!now_.weigh || !(points || now_.focus)) return;
  std::fill(places_.begin(), places_.end(), kElsewhere);
  const auto come_near = [this](const PixelRect& rect) {
    for_each_tile(rect, grid_, [this](int tile) { places_[static_cast<std::size_t>(tile)] = kNear; });
  };
  if (now_.focus) come_near(*now_.focus);
  if (points) {
    const auto x_px = static_cast<int>(now_.pointer_u * static_cast<float>(width_px_));
    const auto y_px = static_cast<int>(now_.pointer_v * static_cast<float>(height_px_));
    come_near({x_px - kAround_px, y_px - kAround_px, 2 * kAround_px + 1, 2 * kAround_px + 1});
  }
  for (std::size_t tile = 0; tile < weights.size(); ++tile) {
    const bool typed = pts_ns - typed_ns_[tile] <= kFreshNs && weights[tile] > 0;
    weights[tile] = typed ? kFullWeight : product(weights[tile], places_[tile]);
  }
}

void Cues::forget() { std::fill(typed_ns_.begin(), typed_ns_.end(), kNever); }

}  // namespace saccade
