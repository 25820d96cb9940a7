// The pattern of a token budget: counts of patches inside the frame, and the search. See Note [Tokens].
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "pipeline/gaze/lattice/lattice_rings.h"

namespace saccade {
namespace {

constexpr double kFoveaShare = 0.6;  // of the tokens: what is left keeps the surround fine enough to find things in
constexpr int kSideStep = 4;

// Of one ring along one axis: how many columns meet the frame, and how many of its hole would.
struct Meets {
  std::int64_t all = 0;
  std::int64_t hole = 0;
  bool operator==(const Meets&) const = default;
};

// Columns [begin, end) of `side`, of patches `span` wide around a centre: how many meet [0, extent).
std::int64_t columns_inside(int begin, int end, int side, std::int64_t span, std::int64_t centre, int extent_px) {
  const std::int64_t origin = centre - side * span / 2;  // of column 0
  const auto after = [&](std::int64_t px) {              // the first column whose left edge is at or after px
    return (px - origin + (px >= origin ? span - 1 : 0)) / span;
  };
  const std::int64_t first = std::max<std::int64_t>(begin, after(1 - span));  // right edge > 0
  const std::int64_t last = std::min<std::int64_t>(end, after(extent_px));
  return std::max<std::int64_t>(last - first, 0);
}

// How each ring meets the frame from a centre; centres that see the same are one, with their number.
struct AxisView {
  std::vector<Meets> rings;
  std::int64_t centres = 1;
};

std::vector<AxisView> axis_views(const RingPattern& pattern, int extent_px, bool columns) {
  const int snap = pattern.snap_px();
  const auto centres = static_cast<std::int64_t>(snapped_px(extent_px, snap)) / snap + 1;
  std::vector<AxisView> views;
  for (std::int64_t c = 0; c < centres; ++c) {
    AxisView view;
    for (const Ring& ring : pattern.rings) {
      const std::int64_t span = std::int64_t{pattern.patch_size} << ring.level;
      const int begin = columns ? ring.col_begin : ring.row_begin;
      const int end = columns ? ring.col_end : ring.row_end;
      const int first = (ring.side - ring.hole) / 2;
      view.rings.push_back({columns_inside(begin, end, ring.side, span, c * snap, extent_px),
                            columns_inside(std::max(begin, first), std::min(end, first + ring.hole), ring.side, span,
                                           c * snap, extent_px)});
    }
    if (!views.empty() && views.back().rings == view.rings) {
      ++views.back().centres;
    } else {
      views.push_back(std::move(view));
    }
  }
  return views;
}

void count_inside(TokenPattern& spent, const FrameGeometry& geometry) {
  const std::vector<AxisView> cols = axis_views(spent.pattern, geometry.width_px, true);
  const std::vector<AxisView> rows = axis_views(spent.pattern, geometry.height_px, false);
  spent.most = 0;
  spent.fewest = spent.pattern.count();
  double sum = 0, centres = 0;
  for (const AxisView& row : rows) {
    for (const AxisView& col : cols) {
      std::int64_t inside = 0;
      for (std::size_t r = 0; r < row.rings.size(); ++r) {
        inside += col.rings[r].all * row.rings[r].all - col.rings[r].hole * row.rings[r].hole;
      }
      spent.most = std::max(spent.most, inside);
      spent.fewest = std::min(spent.fewest, inside);
      const auto times = static_cast<double>(col.centres * row.centres);
      sum += times * static_cast<double>(inside);
      centres += times;
    }
  }
  spent.mean = sum / centres;
}

// The mean level over the frame, seen from its middle: what the periphery is worth.
double mean_level(const RingPattern& pattern, const FrameGeometry& geometry) {
  const double area = static_cast<double>(geometry.width_px) * geometry.height_px;
  double inner = 0, sum = 0;
  for (const Ring& ring : pattern.rings) {
    const double side_px = std::ldexp(static_cast<double>(ring.side) * pattern.patch_size, ring.level);
    const double outer = std::min(side_px, static_cast<double>(geometry.width_px)) *
                         std::min(side_px, static_cast<double>(geometry.height_px));
    sum += ring.level * (outer - inner);
    inner = outer;
  }
  return sum / area;
}

// The best pattern of one fovea within the budget; `smallest` in any case.
TokenPattern best_around(int side, int tokens, int patch_size, const FrameGeometry& geometry) {
  TokenPattern best;
  best.fovea_px = std::int64_t{side} * patch_size;
  double finest = HUGE_VAL;
  for (int last = 0; last < geometry.levels; ++last) {
    // No patch is larger than those of the last level: more than so many are needed there.
    const double span_px = std::ldexp(static_cast<double>(patch_size), last);
    const double needed = static_cast<double>(geometry.width_px) * geometry.height_px / (span_px * span_px);
    if (needed > tokens && last + 1 < geometry.levels) continue;
    for (int least = kSideStep;; least += std::max(kSideStep, least / 8 / kSideStep * kSideStep)) {
      TokenPattern spent{.pattern = widened_rings(side, least, last, patch_size, geometry)};
      count_inside(spent, geometry);
      if (best.smallest == 0 || spent.most < best.smallest) best.smallest = spent.most;
      const double level = mean_level(spent.pattern, geometry);
      if (spent.most <= tokens && level < finest) {
        const std::int64_t smallest = best.smallest, fovea_px = best.fovea_px;
        best = spent;
        best.smallest = smallest;
        best.fovea_px = fovea_px;
        best.found = true;
        finest = level;
      }
      const bool whole = spent.pattern.rings.back().level < last;  // a wider ring covers the frame at a finer level
      if (last < 2 || spent.most > tokens || whole) break;         // the first and the last ring do not follow `least`
    }
  }
  return best;
}

}  // namespace

TokenPattern spend_tokens(int tokens, double fovea_px, int patch_size, const FrameGeometry& geometry) {
  const auto side_of = [&](double px) {
    const double steps = std::floor(px / (kSideStep * patch_size) + 0.5);
    return kSideStep * static_cast<int>(std::clamp(steps, 1.0, static_cast<double>(1 << 16)));
  };
  if (fovea_px > 0) return best_around(side_of(fovea_px), tokens, patch_size, geometry);
  const int widest_px = std::max(geometry.width_px, geometry.height_px) + kSideStep * patch_size;
  int side = static_cast<int>(std::sqrt(kFoveaShare * tokens)) / kSideStep * kSideStep;
  side = std::clamp(side, kSideStep, std::max(2 * side_of(widest_px), kSideStep));
  for (;; side -= kSideStep) {
    TokenPattern spent = best_around(side, tokens, patch_size, geometry);
    if (spent.found || side <= kSideStep) return spent;
  }
}

}  // namespace saccade
