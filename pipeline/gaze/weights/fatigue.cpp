#include "pipeline/gaze/weights/fatigue.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::int64_t kRememberedNs = 2'000'000'000;

}  // namespace

Fatigue::Fatigue(TileGrid grid) : grid_(grid), counts_(static_cast<std::size_t>(grid.count())) {}

void Fatigue::count(const Square& square, int by) {
  const int bottom = std::min((square.y + 1) << square.level, grid_.rows);
  const int right = std::min((square.x + 1) << square.level, grid_.cols);
  for (int ty = square.y << square.level; ty < bottom; ++ty) {
    for (int tx = square.x << square.level; tx < right; ++tx) {
      counts_[static_cast<std::size_t>(ty * grid_.cols + tx)] += static_cast<std::uint32_t>(by);
    }
  }
}

void Fatigue::note(std::int64_t pts_ns, std::span<const Square> sent) {
  for (const Square& square : sent) {
    sent_.push_back({pts_ns, square});
    count(square, 1);
  }
}

void Fatigue::weigh(std::int64_t pts_ns, std::span<Weight> weights) {
  for (; first_ < sent_.size() && sent_[first_].pts_ns < pts_ns - kRememberedNs; ++first_) {
    count(sent_[first_].square, -1);
  }
  if (2 * first_ > sent_.size()) {
    sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  for (std::size_t tile = 0; tile < weights.size(); ++tile) {
    if (counts_[tile] > 0) weights[tile] = product(weights[tile], kFullWeight / (1 + counts_[tile]));
  }
}

void Fatigue::forget() {
  sent_.clear();
  first_ = 0;
  std::fill(counts_.begin(), counts_.end(), 0U);
}

}  // namespace saccade
