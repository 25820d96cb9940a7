// The lattices of evenly spread centres: `grid` (lod by eccentricity) and `uniform` (one lod).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice_kinds.h"

namespace saccade {
namespace {

constexpr double kMaxCellAspect = 1.5;

class EvenLattice final : public Lattice {
 public:
  // lod < 0: by eccentricity. asked: none for patches side by side.
  EvenLattice(const LatticeConfig& config, const FrameGeometry& geometry, std::optional<int> asked, CellGrid cells,
              float lod)
      : fovea_(
            make_fovea_params(acuity_of(config) != nullptr ? *acuity_of(config) : Acuity{}, config.fov_deg, geometry)),
        geometry_(geometry),
        cells_(cells),
        patch_size_(config.patch_size),
        asked_(asked),
        lod_(lod) {}

  std::size_t patch_count() const override { return static_cast<std::size_t>(cells_.count()); }
  const shared::FoveaParams& fovea() const override { return fovea_; }
  bool samples_texels() const override { return !asked_ && lod_ == std::floor(lod_); }
  void plan(float fix_u, float fix_v, PatchPlan& out) const override;
  std::string describe() const override;

 private:
  shared::FoveaParams fovea_;
  FrameGeometry geometry_;
  CellGrid cells_;
  int patch_size_;
  std::optional<int> asked_;
  float lod_;
};

void EvenLattice::plan(float fix_u, float fix_v, PatchPlan& out) const {
  const auto width = static_cast<float>(geometry_.width_px);
  const auto height = static_cast<float>(geometry_.height_px);
  out.patch_size = patch_size_;
  out.fix_x_px = sane_uv(fix_u) * width;
  out.fix_y_px = sane_uv(fix_v) * height;
  out.patches.resize(patch_count());
  const float side_px = static_cast<float>(patch_size_) * std::exp2(std::max(lod_, 0.0f));
  const auto centre = [&](int index, float length_px, int cells) {
    const float middle = static_cast<float>(index) + 0.5f;
    return asked_ ? middle * length_px / static_cast<float>(cells) : middle * side_px;
  };
  std::size_t n = 0;
  for (int row = 0; row < cells_.rows; ++row) {
    const float y_px = centre(row, height, cells_.rows);
    for (int col = 0; col < cells_.cols; ++col, ++n) {
      Patch& patch = out.patches[n];
      patch.x_px = centre(col, width, cells_.cols);
      patch.y_px = y_px;
      patch.lod = lod_;
      if (lod_ < 0) {
        const float e = shared::eccentricity(patch.x_px, y_px, out.fix_x_px, out.fix_y_px, fovea_);
        patch.lod = shared::level_of_detail(e, fovea_);
      }
      patch.coverage = patch_coverage(patch, patch_size_, geometry_.width_px, geometry_.height_px);
    }
  }
}

std::string EvenLattice::describe() const {
  const bool as_asked = cells_.count() == asked_.value_or(cells_.count());
  const std::string count = as_asked ? fmt::format("{} patches", cells_.count())
                                     : fmt::format("{} patches ({} asked)", cells_.count(), *asked_);
  if (lod_ >= 0) {
    return fmt::format("uniform: {} of {}x{}, {} x {}, lod {:.4g}", count, patch_size_, patch_size_, cells_.cols,
                       cells_.rows, lod_);
  }
  return fmt::format("grid: {} of {}x{}, {} x {}, m0 {:.4g}, e0 {:.4g}", count, patch_size_, patch_size_, cells_.cols,
                     cells_.rows, fovea_.m0, fovea_.e0);
}

// The cells of patches side by side. Throws UsageError for more than a lattice may have.
CellGrid covering_cells(const LatticeConfig& config, const FrameGeometry& geometry, double lod) {
  const double side_px = config.patch_size * std::exp2(lod);
  const double cols = std::ceil(geometry.width_px / side_px), rows = std::ceil(geometry.height_px / side_px);
  if (cols * rows > kMaxPatches) refuse_patches(config, static_cast<std::int64_t>(cols * rows));
  return {static_cast<int>(cols), static_cast<int>(rows)};
}

double displayed_aspect(const FrameGeometry& geometry) {
  const double sar = std::isfinite(geometry.sar) && geometry.sar > 0 ? geometry.sar : 1.0;
  return geometry.width_px * sar / geometry.height_px;
}

}  // namespace

float sane_uv(float value) { return std::isnan(value) ? 0.5f : std::clamp(value, 0.0f, 1.0f); }

CellGrid choose_cell_grid(int patches, const FrameGeometry& geometry) {
  const double aspect = displayed_aspect(geometry);
  const double limit = std::log(kMaxCellAspect);
  CellGrid best, squarest;
  double best_skew = HUGE_VAL;
  double squarest_skew = HUGE_VAL;
  for (int rows = 1; rows <= patches; ++rows) {
    const CellGrid cells{patches / rows, rows};
    const double skew = std::abs(std::log(aspect * cells.rows / cells.cols));
    if (skew < squarest_skew) {
      squarest = cells;
      squarest_skew = skew;
    }
    const bool better = cells.count() > best.count() || (cells.count() == best.count() && skew < best_skew);
    if (skew <= limit && (best_skew == HUGE_VAL || better)) {
      best = cells;
      best_skew = skew;
    }
  }
  return best_skew == HUGE_VAL ? squarest : best;
}

std::unique_ptr<Lattice> make_grid_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  const int patches = std::get<GridShape>(config.shape).patches;
  return std::make_unique<EvenLattice>(config, geometry, patches, choose_cell_grid(patches, geometry), -1.0f);
}

std::unique_ptr<Lattice> make_uniform_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  const auto& uniform = std::get<UniformShape>(config.shape);
  const double max_lod = geometry.levels - 1;
  double lod = uniform.lod.value_or(-1);
  if (lod > max_lod) {
    throw UsageError(OfOption("lod", fmt::to_string(lod)),
                     fmt::format("the pyramid has {} levels, so the largest is {}", geometry.levels, max_lod),
                     Hint::kMoreLevels);
  }
  if (!uniform.patches) lod = std::max(lod, 0.0);
  const CellGrid cells =
      uniform.patches ? choose_cell_grid(*uniform.patches, geometry) : covering_cells(config, geometry, lod);
  if (!(lod >= 0)) {
    const double cell_px = std::max(static_cast<double>(geometry.width_px) / cells.cols,
                                    static_cast<double>(geometry.height_px) / cells.rows);
    lod = std::clamp(std::log2(cell_px / config.patch_size), 0.0, max_lod);
  }
  return std::make_unique<EvenLattice>(config, geometry, uniform.patches, cells, static_cast<float>(lod));
}

}  // namespace saccade
