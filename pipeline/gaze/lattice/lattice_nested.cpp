// The nested lattice: square rings of patches around the fixation. See Note [Nested rings].
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice_kinds.h"
#include "pipeline/gaze/lattice/lattice_rings.h"

namespace saccade {
namespace {

class NestedLattice final : public Lattice {
 public:
  // inside: N, the most patches inside the frame; only those are planned. None: all are, wherever they lie.
  NestedLattice(RingPattern pattern, const shared::FoveaParams& fovea, const FrameGeometry& geometry,
                std::optional<TokenPattern> inside)
      : fovea_(fovea),
        geometry_(geometry),
        pattern_(std::move(pattern)),
        inside_(std::move(inside)),
        offsets_(pattern_.offsets()) {}

  std::size_t patch_count() const override {
    return inside_ ? static_cast<std::size_t>(inside_->most) : offsets_.size();
  }
  const shared::FoveaParams& fovea() const override { return fovea_; }
  void plan(float fix_u, float fix_v, PatchPlan& out) const override;
  bool samples_texels() const override { return true; }
  std::string describe() const override;
  int snap_px() const override { return pattern_.snap_px(); }
  std::span<const Patch> pattern() const override { return offsets_; }

 private:
  float coverage(const Patch& patch) const;
  bool meets_frame(const Patch& patch) const;
  void pad(std::size_t planned, PatchPlan& out) const;

  shared::FoveaParams fovea_;
  FrameGeometry geometry_;
  RingPattern pattern_;
  std::optional<TokenPattern> inside_;
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
  out.patches.resize(patch_count());
  std::size_t planned = 0;
  for (const Patch& offset : offsets_) {
    Patch patch{.x_px = centre_x_px + offset.x_px,  // integers below 2^24: exact
                .y_px = centre_y_px + offset.y_px,
                .lod = offset.lod};
    patch.coverage = coverage(patch);
    if (!inside_ || meets_frame(patch)) out.patches[planned++] = patch;
  }
  pad(planned, out);
}

// A strip narrower than half a sample meets the frame with coverage 0; it is still there to be painted.
bool NestedLattice::meets_frame(const Patch& patch) const {
  const float half_px = 0.5f * std::exp2(patch.lod) * static_cast<float>(pattern_.patch_size);
  return patch.x_px + half_px > 0 && patch.x_px - half_px < static_cast<float>(geometry_.width_px) &&
         patch.y_px + half_px > 0 && patch.y_px - half_px < static_cast<float>(geometry_.height_px);
}

// What is left of N lies above the frame's left edge, one above the other: places that are the same at each fixation.
void NestedLattice::pad(std::size_t planned, PatchPlan& out) const {
  const float half_px = 0.5f * static_cast<float>(pattern_.patch_size);
  for (float below = half_px; planned < out.patches.size(); ++planned, below += 2 * half_px) {
    out.patches[planned] = {.x_px = -half_px, .y_px = -below, .lod = 0, .coverage = 0};
  }
}

std::string NestedLattice::describe() const {
  std::string rings;
  for (const Ring& ring : pattern_.rings) {
    rings += fmt::format("{}{}:{}", rings.empty() ? "" : " ", ring.level, ring.count());
  }
  const std::string text = fmt::format(
      "nested: {} patches of {}x{}, level:patches {}, centred on multiples of {} px, m0 {:.4g}, e0 {:.4g}",
      patch_count(), pattern_.patch_size, pattern_.patch_size, rings, pattern_.snap_px(), fovea_.m0, fovea_.e0);
  if (!inside_) return text;
  return text + fmt::format(", inside the frame {} to {}, mean {:.1f}, fovea {} px", inside_->fewest, inside_->most,
                            inside_->mean, pattern_.rings.front().side * pattern_.patch_size);
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
  std::optional<TokenPattern> inside = {};
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
        OfOption("patches", fmt::to_string(asked.patches)),
        fmt::format("a nested lattice over {}x{} with {} levels and a patch size of {} needs at least {}",
                    geometry.width_px, geometry.height_px, geometry.levels, config.patch_size, budget.smallest),
        Hint::kMorePatches);
  }
  fovea.m0 = static_cast<float>(budget.m0);
  fovea.e0 = static_cast<float>(budget.e0);
  return {std::move(budget.pattern), fovea};
}

Solution from_tokens(const TokenBudget& asked, const LatticeConfig& config, const FrameGeometry& geometry) {
  const shared::FoveaParams eye = make_fovea_params({}, config.fov_deg, geometry);
  double fovea_px = 0;
  if (asked.fovea) {
    fovea_px = asked.fovea->value / (asked.fovea->degrees ? static_cast<double>(eye.unit_per_px_x) : 1.0);
    if (!(std::isfinite(fovea_px) && fovea_px > 0)) throw UsageError(OfOption("fovea"), "a width above 0 is needed");
  }
  TokenPattern spent = spend_tokens(asked.tokens, fovea_px, config.patch_size, geometry);
  if (!spent.found) {
    throw UsageError(OfOption("tokens", fmt::to_string(asked.tokens)),
                     fmt::format("a nested lattice over {}x{} with {} levels, a patch size of {} and a fovea of {} px "
                                 "needs at least {}",
                                 geometry.width_px, geometry.height_px, geometry.levels, config.patch_size,
                                 spent.fovea_px, spent.smallest),
                     Hint::kMorePatches);
  }
  return {spent.pattern, fitted_fovea(spent.pattern, config, geometry), std::move(spent)};
}

Solution solve(const LatticeConfig& config, const FrameGeometry& geometry) {
  if (const auto* tokens = std::get_if<TokenBudget>(&config.shape)) return from_tokens(*tokens, config, geometry);
  if (const auto* rings = std::get_if<ExplicitRings>(&config.shape)) return from_rings(*rings, config, geometry);
  if (const auto* acuity = std::get_if<Acuity>(&config.shape)) return from_acuity(*acuity, config, geometry);
  return from_budget(std::get<PatchBudget>(config.shape), config, geometry);
}

}  // namespace

std::unique_ptr<Lattice> make_nested_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  Solution solution = solve(config, geometry);
  if (solution.pattern.count() > kMaxPatches) refuse_patches(config, solution.pattern.count());
  return std::make_unique<NestedLattice>(std::move(solution.pattern), solution.fovea, geometry,
                                         std::move(solution.inside));
}

}  // namespace saccade
