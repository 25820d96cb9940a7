#include "pipeline/gaze/lattice/lattice_rings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::int64_t kSideLimit = 1 << 20;  // far more than any frame needs; keeps a huge e0 in range

std::int64_t span_px(int patch_size, int level) { return std::int64_t{patch_size} << level; }

// The rightmost centre, which lies up to half a snap outside the frame.
std::int64_t last_centre_px(int extent_px, int level) {
  return static_cast<std::int64_t>(snapped_px(extent_px, 1 << level));
}

// Half the side that covers an axis from its first and from its last centre.
std::int64_t reach_px(int extent_px, int level) {
  return std::max<std::int64_t>(extent_px, last_centre_px(extent_px, level));
}

std::int64_t reach_px(const FrameGeometry& geometry, int level) {
  return std::max(reach_px(geometry.width_px, level), reach_px(geometry.height_px, level));
}

int overlap(int a_begin, int a_end, int b_begin, int b_end) {
  return std::max(std::min(a_end, b_end) - std::max(a_begin, b_begin), 0);
}

// Patch k begins (2k - side) * span / 2 from the centre. It meets the frame [0, extent) from some centre in
// 0 .. last_centre when it begins before `extent` (seen from the first centre) and ends after -last_centre: the centres
// are closer together than a patch is wide, so one of them serves both conditions.
void trim(int side, std::int64_t span, int extent_px, std::int64_t last_centre, int& begin, int& end) {
  const auto left = [&](int k) { return (2 * std::int64_t{k} - side) * (span / 2); };
  begin = 0;
  end = side;
  while (begin < end && left(begin) + span + last_centre <= 0) ++begin;
  while (end > begin && left(end - 1) >= extent_px) --end;
}

void trim(RingPattern& pattern, const FrameGeometry& geometry) {
  const int last_level = pattern.rings.back().level;
  for (Ring& ring : pattern.rings) {
    const std::int64_t span = span_px(pattern.patch_size, ring.level);
    trim(ring.side, span, geometry.width_px, last_centre_px(geometry.width_px, last_level), ring.col_begin,
         ring.col_end);
    trim(ring.side, span, geometry.height_px, last_centre_px(geometry.height_px, last_level), ring.row_begin,
         ring.row_end);
  }
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::int64_t Ring::count() const {
  const int first = (side - hole) / 2;
  const std::int64_t kept = std::int64_t{col_end - col_begin} * (row_end - row_begin);
  return kept - std::int64_t{overlap(col_begin, col_end, first, first + hole)} *
                    overlap(row_begin, row_end, first, first + hole);
}

std::int64_t RingPattern::count() const {
  std::int64_t total = 0;
  for (const Ring& ring : rings) total += ring.count();
  return total;
}

std::vector<Patch> RingPattern::offsets() const {
  std::vector<Patch> patches;
  patches.reserve(static_cast<std::size_t>(count()));
  for (const Ring& ring : rings) {
    const std::int64_t half_span = span_px(patch_size, ring.level) / 2;
    const int first = (ring.side - ring.hole) / 2;
    const auto in_hole = [&](int k) { return k >= first && k < first + ring.hole; };
    for (int row = ring.row_begin; row < ring.row_end; ++row) {
      for (int col = ring.col_begin; col < ring.col_end; ++col) {
        if (in_hole(row) && in_hole(col)) continue;
        patches.push_back({.x_px = static_cast<float>((2 * col + 1 - ring.side) * half_span),
                           .y_px = static_cast<float>((2 * row + 1 - ring.side) * half_span),
                           .lod = static_cast<float>(ring.level)});
      }
    }
  }
  return patches;
}

double snapped_px(double position_px, int snap_px) { return std::floor(position_px / snap_px + 0.5) * snap_px; }

RingPattern solved_rings(double m0, double e0, double unit_per_px, int patch_size, const FrameGeometry& geometry) {
  RingPattern pattern;
  pattern.patch_size = patch_size;
  std::int64_t hole = 0;
  for (int level = 0; level < geometry.levels; ++level) {
    const auto span = static_cast<double>(span_px(patch_size, level));
    const double radius_px = (m0 * std::exp2(level + 0.5) - e0) / unit_per_px;
    const double quads =
        std::clamp(std::floor(2 * radius_px / (4 * span) + 0.5), 0.0, static_cast<double>(kSideLimit / 4));
    std::int64_t side = std::max({4 * static_cast<std::int64_t>(quads), round_up(hole, 4), std::int64_t{4}});
    const std::int64_t reach = reach_px(geometry, level);
    const bool covers = side * span_px(patch_size, level) / 2 >= reach;
    const bool last = covers || level == geometry.levels - 1;
    if (last) {
      // The smallest square that covers; the hole, a multiple of 2, is covered as well.
      side = std::max(round_up(2 * reach, 2 * span_px(patch_size, level)) / span_px(patch_size, level), hole);
    }
    pattern.rings.push_back({.level = level, .side = static_cast<int>(side), .hole = static_cast<int>(hole)});
    if (last) break;
    hole = side / 2;
  }
  trim(pattern, geometry);
  return pattern;
}

RingPattern widened_rings(int fovea_side, int least_side, int last_level, int patch_size,
                          const FrameGeometry& geometry) {
  RingPattern pattern;
  pattern.patch_size = patch_size;
  std::int64_t hole = 0;
  for (int level = 0; level <= last_level; ++level) {
    const std::int64_t span = span_px(patch_size, level);
    std::int64_t side = level == 0 ? fovea_side : std::max<std::int64_t>(least_side, round_up(hole, 4));
    const std::int64_t reach = reach_px(geometry, level);
    const bool last = level == last_level || side * span / 2 >= reach;
    if (last) side = std::max(round_up(2 * reach, 2 * span) / span, hole);
    pattern.rings.push_back({.level = level, .side = static_cast<int>(side), .hole = static_cast<int>(hole)});
    if (last) break;
    hole = side / 2;
  }
  trim(pattern, geometry);
  return pattern;
}

RingPattern explicit_rings(std::span<const ExplicitRing> rings, int patch_size, const FrameGeometry& geometry) {
  if (rings.empty()) throw UsageError("a nested lattice of explicit rings needs at least one ring");
  RingPattern pattern;
  pattern.patch_size = patch_size;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const auto [stride, side] = rings[i];
    if (stride < 1 || !std::has_single_bit(static_cast<unsigned>(stride)) ||
        (i > 0 && stride != 2 * rings[i - 1].stride)) {
      throw UsageError(OfOption("strides"),
                       fmt::format("{} at place {} must be a power of two, twice the one before", stride, i + 1));
    }
    const int level = std::countr_zero(static_cast<unsigned>(stride));
    if (level >= geometry.levels) {
      throw UsageError(OfOption("strides"),
                       fmt::format("{} needs {} pyramid levels, there are {}", stride, level + 1, geometry.levels),
                       Hint::kMoreLevels);
    }
    if (side < 1 || side > 1024) {
      throw UsageError(OfOption("grid-sizes"), fmt::format("{} at place {} is outside 1 to 1024", side, i + 1));
    }
    if (i > 0 && rings[i - 1].side % 2 != 0) {
      throw UsageError(OfOption("grid-sizes"),
                       fmt::format("{} at place {} is odd, but the next level's patches are twice as wide, "
                                   "so only the last may be",
                                   rings[i - 1].side, i));
    }
    const int hole = i == 0 ? 0 : rings[i - 1].side / 2;
    if (i > 0 && (side < hole || (side - hole) % 2 != 0)) {
      throw UsageError(OfOption("grid-sizes"),
                       fmt::format("{} at place {} cannot be centred around the {} patches the level before "
                                   "fills; it must be {} or more, and {}",
                                   side, i + 1, hole, hole, hole % 2 == 0 ? "even" : "odd"));
    }
    pattern.rings.push_back(
        {.level = level, .side = side, .hole = hole, .col_begin = 0, .col_end = side, .row_begin = 0, .row_end = side});
  }
  return pattern;
}

RingBudget spend_budget(int patches, double fixed_m0, double unit_per_px, int patch_size,
                        const FrameGeometry& geometry) {
  // Every e0 at which a level's side changes: 2 R_l / (S 2^l) = 4k + 2.
  std::vector<double> edges;
  for (int level = 0; level < geometry.levels; ++level) {
    const auto span = static_cast<double>(span_px(patch_size, level));
    const double growth = std::exp2(level + 0.5);
    const double last_px = static_cast<double>(reach_px(geometry, level)) + 4 * span;
    for (double radius_px = span; radius_px <= last_px; radius_px += 2 * span) {
      const double e0 =
          fixed_m0 > 0 ? fixed_m0 * growth - radius_px * unit_per_px : radius_px * unit_per_px / (growth - 1);
      if (e0 > 0) edges.push_back(e0);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  edges.insert(edges.begin(), 0.0);
  edges.push_back(edges.size() > 1 ? 2 * edges.back() : std::max(fixed_m0, 1.0));

  RingBudget best;
  std::int64_t best_count = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const double e0 = 0.5 * (edges[i] + edges[i + 1]);
    const double m0 = fixed_m0 > 0 ? fixed_m0 : e0;
    RingPattern pattern = solved_rings(m0, e0, unit_per_px, patch_size, geometry);
    const std::int64_t count = pattern.count();
    best.smallest = i == 0 ? count : std::min(best.smallest, count);
    // Among equal counts: the widest fovea, in the first piece that gives it.
    const bool better = count > best_count || (fixed_m0 <= 0 && count == best_count && pattern != best.pattern);
    if (count <= patches && better) {
      best.m0 = m0;
      best.e0 = e0;
      best.pattern = std::move(pattern);
      best.found = true;
      best_count = count;
    }
  }
  return best;
}

}  // namespace saccade
