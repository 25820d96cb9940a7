// The nested lattice: square rings of patches around the fixation. See Note [Nested rings].
#include <fmt/format.h>

#include <cmath>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice_kinds.h"
#include "pipeline/gaze/lattice_rings.h"

namespace saccade {
namespace {

class NestedLattice final : public Lattice {
 public:
  NestedLattice(RingPattern pattern, const shared::FoveaParams& fovea, const FrameGeometry& geometry)
      : fovea_(fovea), geometry_(geometry), pattern_(std::move(pattern)), offsets_(pattern_.offsets()) {}

  std::size_t patch_count() const override { return offsets_.size(); }
  const shared::FoveaParams& fovea() const override { return fovea_; }
  void plan(float fix_u, float fix_v, PatchPlan& out) const override;
  bool samples_texels() const override { return true; }
  std::string describe() const override;
  int snap_px() const override { return pattern_.snap_px(); }

 private:
  float coverage(const Patch& patch) const;

  shared::FoveaParams fovea_;
  FrameGeometry geometry_;
  RingPattern pattern_;
  std::vector<Patch> offsets_;
};

float NestedLattice::coverage(const Patch& patch) const {
  const float half_px = 0.5f * std::ldexp(static_cast<float>(pattern_.patch_size), static_cast<int>(patch.lod));
  const auto width = static_cast<float>(geometry_.width_px);
  const auto height = static_cast<float>(geometry_.height_px);
  const float left = patch.x_px - half_px, right = patch.x_px + half_px;
  const float top = patch.y_px - half_px, bottom = patch.y_px + half_px;
  if (left >= 0 && top >= 0 && right <= width && bottom <= height) return 1.0f;
  if (right <= 0 || bottom <= 0 || left >= width || top >= height) return 0.0f;
  return patch_coverage(patch, pattern_.patch_size, geometry_.width_px, geometry_.height_px);
}

void NestedLattice::plan(float fix_u, float fix_v, PatchPlan& out) const {
  const double x_px = static_cast<double>(sane_uv(fix_u)) * geometry_.width_px;
  const double y_px = static_cast<double>(sane_uv(fix_v)) * geometry_.height_px;
  const auto centre_x_px = static_cast<float>(snapped_px(x_px, pattern_.snap_px()));
  const auto centre_y_px = static_cast<float>(snapped_px(y_px, pattern_.snap_px()));
  out.patch_size = pattern_.patch_size;
  out.fix_x_px = static_cast<float>(x_px);
  out.fix_y_px = static_cast<float>(y_px);
  out.patches.resize(offsets_.size());
  for (std::size_t n = 0; n < offsets_.size(); ++n) {
    Patch& patch = out.patches[n];
    patch.x_px = centre_x_px + offsets_[n].x_px;  // integers below 2^24: exact
    patch.y_px = centre_y_px + offsets_[n].y_px;
    patch.lod = offsets_[n].lod;
    patch.coverage = coverage(patch);
  }
}

std::string NestedLattice::describe() const {
  std::string rings;
  for (const Ring& ring : pattern_.rings) {
    rings += fmt::format("{}{}:{}", rings.empty() ? "" : " ", ring.level, ring.count());
  }
  return fmt::format(
      "nested: {} patches of {}x{}, level:patches {}, centred on multiples of {} px, m0 {:.4g}, e0 {:.4g}",
      offsets_.size(), pattern_.patch_size, pattern_.patch_size, rings, pattern_.snap_px(), fovea_.m0, fovea_.e0);
}

double mean_unit_per_px(const shared::FoveaParams& fovea) {
  return std::sqrt(static_cast<double>(fovea.unit_per_px_x) * static_cast<double>(fovea.unit_per_px_y));
}

// Parameters of the eye whose first ring ends where the explicit one does, with M0 = e0.
shared::FoveaParams fitted_fovea(const RingPattern& pattern, const LatticeConfig& config,
                                 const FrameGeometry& geometry) {
  shared::FoveaParams fovea = make_fovea_params({}, config.fov_deg, geometry);
  const Ring& first = pattern.rings.front();
  const double radius_px = 0.5 * first.side * std::ldexp(static_cast<double>(pattern.patch_size), first.level);
  const double e0 = radius_px * mean_unit_per_px(fovea) / (std::exp2(first.level + 0.5) - 1);
  fovea.m0 = fovea.e0 = static_cast<float>(e0);
  return fovea;
}

// A pattern and the eye that it stands for.
struct Solution {
  RingPattern pattern;
  shared::FoveaParams fovea;
};

Solution from_rings(const ExplicitRings& explicit_form, const LatticeConfig& config, const FrameGeometry& geometry) {
  RingPattern pattern = explicit_rings(explicit_form.rings, config.patch_size, geometry);
  const shared::FoveaParams fovea = fitted_fovea(pattern, config, geometry);
  return {std::move(pattern), fovea};
}

Solution from_acuity(const Acuity& acuity, const LatticeConfig& config, const FrameGeometry& geometry) {
  const shared::FoveaParams fovea = make_fovea_params(acuity, config.fov_deg, geometry);
  return {solved_rings(static_cast<double>(fovea.m0), static_cast<double>(fovea.e0), mean_unit_per_px(fovea),
                       config.patch_size, geometry),
          fovea};
}

Solution from_budget(const PatchBudget& asked, const LatticeConfig& config, const FrameGeometry& geometry) {
  const Acuity fixed{.m0 = asked.m0.value_or(Acuity{}.m0)};
  shared::FoveaParams fovea = make_fovea_params(fixed, config.fov_deg, geometry);
  RingBudget budget = spend_budget(asked.patches, asked.m0 ? static_cast<double>(fovea.m0) : 0.0,
                                   mean_unit_per_px(fovea), config.patch_size, geometry);
  if (!budget.found) {
    throw UsageError(
        fmt::format("patches {}: a nested lattice over {}x{} with {} levels and a patch size of {} needs at least {}",
                    asked.patches, geometry.width_px, geometry.height_px, geometry.levels, config.patch_size,
                    budget.smallest),
        Hint::kMorePatches);
  }
  fovea.m0 = static_cast<float>(budget.m0);
  fovea.e0 = static_cast<float>(budget.e0);
  return {std::move(budget.pattern), fovea};
}

Solution solve(const LatticeConfig& config, const FrameGeometry& geometry) {
  if (const auto* rings = std::get_if<ExplicitRings>(&config.shape)) return from_rings(*rings, config, geometry);
  if (const auto* acuity = std::get_if<Acuity>(&config.shape)) return from_acuity(*acuity, config, geometry);
  return from_budget(std::get<PatchBudget>(config.shape), config, geometry);
}

}  // namespace

std::unique_ptr<Lattice> make_nested_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  Solution solution = solve(config, geometry);
  if (solution.pattern.count() > (1 << 20)) {
    throw UsageError(
        fmt::format("the nested lattice would have {} patches, more than {}", solution.pattern.count(), 1 << 20),
        Hint::kFewerPatches);
  }
  return std::make_unique<NestedLattice>(std::move(solution.pattern), solution.fovea, geometry);
}

}  // namespace saccade
