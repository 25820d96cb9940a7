#include "ui/compare/comparison.h"

#include <fmt/format.h>

#include "pipeline/error.h"
#include "ui/tuning/words.h"

namespace saccade::ui {
namespace {

LatticeConfig config_of(const Compared& compared) {
  LatticeConfig config{.patch_size = compared.patch_size, .fov_deg = compared.fov_deg, .shape = {}};
  switch (compared.kind) {
    case LatticeKind::kNested:
      config.shape = TokenBudget{.tokens = compared.patches, .fovea = {}};
      break;
    case LatticeKind::kGrid:
      config.shape = GridShape{.patches = compared.patches, .acuity = compared.acuity};
      break;
    case LatticeKind::kUniform:
      config.shape = UniformShape{.patches = compared.patches, .lod = {}, .acuity = {}};
      break;
    case LatticeKind::kAdaptive:  // nothing offers it: its patches follow from what a stream has sent
      break;
  }
  return config;
}

}  // namespace

void Comparison::make_lattice_of(const Compared& compared) {
  if (compared_ == compared) return;
  compared_ = compared;
  lattice_.reset();
  try {
    lattice_ = make_lattice(config_of(compared), compared.geometry);
  } catch (const Error&) {
    words_ = fmt::format("{}: {} patches are too few", in_words(compared.kind), compared.patches);
    return;
  }
  batch_ = PatchBatch(lattice_->patch_count(), compared.patch_size, SampleFormat{});
  words_ = fmt::format("{}: {} patches", in_words(compared.kind), lattice_->patch_count());
}

void Comparison::update(Session& session, const Compared& compared, const ColorSpec& color, const Gaze& gaze) {
  make_lattice_of(compared);
  if (!lattice_) return;
  plan_.patch_size = compared.patch_size;
  lattice_->plan(gaze.u, gaze.v, plan_);
  session.sample(plan_, color, batch_);
  painter_.set(plan_, batch_);
}

}  // namespace saccade::ui
