#include "kernels/upload_planner.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::size_t kWindow = 24;  // how many of the latest rectangles a new one may join: keeps planning linear
constexpr int kPasses = 3;           // joined rectangles may join again

std::int64_t area(const TileRect& r) { return std::int64_t{r.width} * r.height; }

TileRect bounds(const TileRect& a, const TileRect& b) {
  const int x = std::min(a.x, b.x);
  const int y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

}  // namespace

UploadPlanner::UploadPlanner(const PyramidLayout& layout, UploadCost cost)
    : tiles_(layout.tiles), padded_(layout.padded_tiles), planes_(layout.plane_count), cost_(cost) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    tile_bytes_ += std::int64_t{plane.tile_size()} * plane.tile_size() * plane.texel_bytes();
  }
  everything_ = {0, 0, padded_.cols, padded_.rows};
  const auto most = static_cast<std::size_t>(tiles_.count() + 1) / 2 + 1;  // a checkerboard
  exact_.reserve(most);
  joined_.reserve(most);
}

// The last column and row of image tiles carry the padding that repeats them.
void UploadPlanner::extend_to_padding(TileRect& rect) const {
  if (rect.x + rect.width == tiles_.cols) rect.width = padded_.cols - rect.x;
  if (rect.y + rect.height == tiles_.rows) rect.height = padded_.rows - rect.y;
}

// Greedy: each rectangle joins the one of the latest kWindow where that wastes least, if it wastes less
// than a call costs.
void UploadPlanner::join() {
  joined_.assign(exact_.begin(), exact_.end());
  for (int pass = 0; pass < kPasses; ++pass) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < joined_.size(); ++i) {
      const TileRect rect = joined_[i];
      double least_us = rect_cost_us();
      std::size_t best = kept;
      for (std::size_t k = kept > kWindow ? kept - kWindow : 0; k < kept; ++k) {
        const std::int64_t waste = area(bounds(joined_[k], rect)) - area(joined_[k]) - area(rect);
        const double waste_us = static_cast<double>(waste) * tile_cost_us();
        if (waste_us < least_us) {
          least_us = waste_us;
          best = k;
        }
      }
      if (best < kept) {
        joined_[best] = bounds(joined_[best], rect);
      } else {
        joined_[kept++] = rect;
      }
    }
    if (kept == joined_.size()) return;
    joined_.resize(kept);
  }
}

UploadPlan UploadPlanner::priced(std::span<const TileRect> rects) const {
  UploadPlan plan;
  plan.rects = rects;
  for (const TileRect& rect : rects) plan.bytes += area(rect) * tile_bytes_;
  plan.calls = static_cast<int>(rects.size()) * planes_;
  plan.cost_us = plan.calls * cost_.call_us + static_cast<double>(plan.bytes) * cost_.byte_us;
  return plan;
}

const UploadPlan& UploadPlanner::plan_exact(const Damage& damage) {
  damage.rects(exact_);
  for (TileRect& rect : exact_) extend_to_padding(rect);
  const UploadPlan full = priced({&everything_, 1});
  plan_ = priced(exact_);
  plan_.full_bytes = full.bytes;
  plan_.full_cost_us = full.cost_us;
  return plan_;
}

const UploadPlan& UploadPlanner::plan(const Damage& damage) {
  plan_exact(damage);
  UploadPlan full = priced({&everything_, 1});
  full.full = true;
  if (exact_.size() > 1) {
    join();
    const UploadPlan joined = priced(joined_);
    if (joined.cost_us < plan_.cost_us) plan_ = joined;
  }
  if (!exact_.empty() && full.cost_us <= plan_.cost_us) plan_ = full;
  plan_.full_bytes = full.bytes;
  plan_.full_cost_us = full.cost_us;
  return plan_;
}

}  // namespace saccade
