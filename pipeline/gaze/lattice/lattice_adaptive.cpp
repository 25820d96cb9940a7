// The lattice `adaptive` as far as a fixation tells: its patches follow from the picture (pipeline/gaze/allocate/).
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/error.h"
#include "pipeline/gaze/lattice/lattice_kinds.h"

namespace saccade {
namespace {

// All that it emits is new, so no bytes are kept to be compared: samples_texels() stays false though they are texels.
class AdaptiveLattice final : public Lattice {
 public:
  AdaptiveLattice(const LatticeConfig& config, const FrameGeometry& geometry)
      : shape_(std::get<AdaptiveShape>(config.shape)),
        fovea_(make_fovea_params(Acuity{}, config.fov_deg, geometry)),
        geometry_(geometry) {}

  // Squares of a look don't overlap, so no look has more than the frame has tiles.
  std::size_t patch_count() const override {
    return static_cast<std::size_t>(std::min(shape_.tokens, tiles_of(geometry_).count()));
  }
  const shared::FoveaParams& fovea() const override { return fovea_; }
  // None: patches of coverage 0.
  void plan(float fix_u, float fix_v, PatchPlan& out) const override {
    constexpr float kHalfPx = 0.5f * kTilePx;
    out.patch_size = kTilePx;
    out.fix_x_px = sane_uv(fix_u) * static_cast<float>(geometry_.width_px);
    out.fix_y_px = sane_uv(fix_v) * static_cast<float>(geometry_.height_px);
    out.patches.assign(patch_count(), {.x_px = -kHalfPx, .y_px = -kHalfPx});
  }
  std::string describe() const override {
    std::string text = fmt::format("adaptive: at most {} tokens a look, squares of 16x16", patch_count());
    if (shape_.target_psnr) text += fmt::format(", until {:.4g} dB", *shape_.target_psnr);
    if (shape_.tokens_per_second) text += fmt::format(", {} a second", *shape_.tokens_per_second);
    if (shape_.context) {
      text += fmt::format(", {:.4g} {} kept", shape_.context->value, shape_.context->seconds ? "s" : "tokens");
    }
    if (shape_.eye > 0) text += fmt::format(", the eye counts {:.4g}", shape_.eye);
    return text;
  }

 private:
  AdaptiveShape shape_;
  shared::FoveaParams fovea_;
  FrameGeometry geometry_;
};

}  // namespace

std::unique_ptr<Lattice> make_adaptive_lattice(const LatticeConfig& config, const FrameGeometry& geometry) {
  if (config.patch_size != kTilePx) {
    throw UsageError(
        OfOption("patch-size", fmt::to_string(config.patch_size)),
        fmt::format("squares of lattice adaptive have {0} x {0} samples; lattice nested takes other sizes", kTilePx));
  }
  return std::make_unique<AdaptiveLattice>(config, geometry);
}

}  // namespace saccade
