#include "ui/tuning/working_range.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/pyramid_layout.h"
#include "pipeline/error.h"
#include "ui/tuning/settings_edits.h"

namespace saccade::ui {
namespace {

// N with these settings; nullopt: there is no such lattice.
std::optional<int> count_with(const LatticeConfig& lattice, const FrameGeometry& geometry) {
  try {
    return static_cast<int>(make_lattice(lattice, geometry)->patch_count());
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<int> count_asking(LatticeConfig lattice, int patches, const FrameGeometry& geometry) {
  set_patches(lattice, patches);
  return count_with(lattice, geometry);
}

bool texture_fits(const FrameGeometry& geometry, int levels, int most_texture_px) {
  try {
    const PyramidLayout layout =
        make_pyramid_layout(geometry.width_px, geometry.height_px, TextureFormat::kRgba8, levels);
    return std::max(layout.planes[0].width, layout.planes[0].height) <= most_texture_px;
  } catch (const LayoutError&) {
    return false;
  }
}

}  // namespace

WorkingRange working_levels(const LatticeConfig& lattice, const FrameGeometry& geometry, int most_texture_px) {
  WorkingRange range{0, 0};
  for (int levels = 1; levels <= kMaxLevels; ++levels) {
    FrameGeometry tried = geometry;
    tried.levels = levels;
    if (!texture_fits(tried, levels, most_texture_px) || !count_with(lattice, tried)) continue;
    if (range.low == 0) range.low = levels;
    range.high = levels;
  }
  return range.low == 0 ? WorkingRange{geometry.levels, geometry.levels} : range;
}

WorkingRange working_patches(const LatticeConfig& lattice, const FrameGeometry& geometry) {
  if (lattice_kind(lattice) != LatticeKind::kNested) return {1, kMostPatches};
  const std::optional<int> all = count_asking(lattice, 1 << 20, geometry);
  WorkingRange range{1, std::min(all.value_or(kMostPatches), kMostPatches)};
  int low = 1, high = range.high;
  while (low < high) {  // the fewest that work
    const int middle = (low + high) / 2;
    if (count_asking(lattice, middle, geometry)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  range.low = low;
  return range;
}

void WorkingRanges::update(const PipelineConfig& config, const FrameGeometry& geometry, int most_texture_px) {
  if (config.lattice == lattice_ && geometry == geometry_) return;
  LatticeConfig before = lattice_, now = config.lattice;
  for (LatticeConfig* lattice : {&before, &now}) set_patches(*lattice, 1);  // on N the fewest don't depend
  if (now != before || geometry != geometry_) patches_ = working_patches(now, geometry);
  lattice_ = config.lattice;
  geometry_ = geometry;
  levels_ = working_levels(lattice_, geometry, most_texture_px);
}

}  // namespace saccade::ui
