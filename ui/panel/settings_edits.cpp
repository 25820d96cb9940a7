#include "ui/panel/settings_edits.h"

namespace saccade::ui {
namespace {

void forget_rings(LatticeConfig& lattice) {
  lattice.strides.clear();
  lattice.grid_sizes.clear();
}

}  // namespace

const FoveaPreset* preset_of(const FoveaConfig& fovea) {
  for (const FoveaPreset& preset : kFoveaPresets) {
    if (fovea.unit == preset.unit && fovea.e0 == preset.e0 && fovea.m0 == preset.m0) return &preset;
  }
  return nullptr;
}

void set_preset(PipelineConfig& config, const FoveaPreset& preset) {
  set_fovea(config, preset.e0, preset.m0);
  config.lattice.fovea.unit = preset.unit;
}

void set_lattice_kind(PipelineConfig& config, LatticeKind kind) {
  LatticeConfig& lattice = config.lattice;
  lattice.kind = kind;
  forget_rings(lattice);
  if (kind != LatticeKind::kUniform) lattice.uniform_lod = -1;
  if (kind == LatticeKind::kNested && lattice.fovea.e0) lattice.patches_given = false;
  if (!lattice.fovea.e0) lattice.fovea.m0.reset();
}

bool follows_budget(const LatticeConfig& lattice) {
  return lattice.kind == LatticeKind::kNested && !lattice.fovea.e0 && lattice.strides.empty();
}

void set_patches(PipelineConfig& config, int patches) {
  LatticeConfig& lattice = config.lattice;
  forget_rings(lattice);
  lattice.patches = patches;
  lattice.patches_given = true;
  if (lattice.kind != LatticeKind::kNested) return;
  lattice.fovea.e0.reset();
  lattice.fovea.m0.reset();
  lattice.fovea.unit = FoveaUnit::kDegrees;
}

void set_fovea(PipelineConfig& config, double e0, double m0) {
  LatticeConfig& lattice = config.lattice;
  forget_rings(lattice);
  lattice.fovea.unit = FoveaUnit::kDegrees;
  lattice.fovea.e0 = e0;
  lattice.fovea.m0 = m0;
  if (lattice.kind == LatticeKind::kNested) lattice.patches_given = false;
}

void set_fov(PipelineConfig& config, double fov_deg) {
  config.lattice.fovea.fov_deg = fov_deg;
  config.scanpath.fov_deg = fov_deg;
}

void set_policy(PipelineConfig& config, FixationPolicy policy) {
  if (config.scanpath.policy != policy) config.scanpath.argument.clear();
  config.scanpath.policy = policy;
}

}  // namespace saccade::ui
