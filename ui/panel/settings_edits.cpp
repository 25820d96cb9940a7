#include "ui/panel/settings_edits.h"

namespace saccade::ui {
namespace {

void set_acuity(LatticeConfig& lattice, const Acuity& acuity) {
  if (auto* grid = std::get_if<GridShape>(&lattice.shape)) {
    grid->acuity = acuity;
  } else if (auto* uniform = std::get_if<UniformShape>(&lattice.shape)) {
    uniform->acuity = acuity;
  } else {
    lattice.shape = acuity;
  }
}

}  // namespace

const FoveaPreset* preset_of(const LatticeConfig& lattice) {
  const Acuity* acuity = acuity_of(lattice);
  for (const FoveaPreset& preset : kFoveaPresets) {
    if (acuity != nullptr && *acuity == preset.acuity) return &preset;
  }
  return nullptr;
}

void set_preset(PipelineConfig& config, const FoveaPreset& preset) { set_acuity(config.lattice, preset.acuity); }

void set_lattice_kind(PipelineConfig& config, LatticeKind kind, int patches) {
  LatticeConfig& lattice = config.lattice;
  if (kind == lattice_kind(lattice)) return;
  const Acuity* old = acuity_of(lattice);
  const std::optional<Acuity> acuity = old != nullptr ? std::optional(*old) : std::nullopt;
  const int count = patches_asked(lattice).value_or(patches);
  if (kind == LatticeKind::kGrid) {
    lattice.shape = GridShape{.patches = count, .acuity = acuity};
  } else if (kind == LatticeKind::kUniform) {
    lattice.shape = UniformShape{.patches = count, .lod = {}, .acuity = acuity};
  } else if (acuity) {
    lattice.shape = *acuity;
  } else {
    lattice.shape = PatchBudget{.patches = count, .m0 = {}};
  }
}

bool follows_budget(const LatticeConfig& lattice) { return std::holds_alternative<PatchBudget>(lattice.shape); }

void set_patches(PipelineConfig& config, int patches) {
  LatticeConfig& lattice = config.lattice;
  if (auto* grid = std::get_if<GridShape>(&lattice.shape)) {
    grid->patches = patches;
  } else if (auto* uniform = std::get_if<UniformShape>(&lattice.shape)) {
    uniform->patches = patches;
  } else {
    lattice.shape = PatchBudget{.patches = patches, .m0 = {}};
  }
}

void set_fovea(PipelineConfig& config, double e0, double m0) { set_acuity(config.lattice, {.e0 = e0, .m0 = m0}); }

void set_fov(PipelineConfig& config, double fov_deg) {
  config.lattice.fov_deg = fov_deg;
  config.scanpath.fov_deg = fov_deg;
}

void set_policy(PipelineConfig& config, FixationPolicy policy) {
  if (config.scanpath.policy != policy) config.scanpath.argument.clear();
  config.scanpath.policy = policy;
}

void reset_settings(ViewSettings& settings, const ViewSettings& initial) {
  ViewSettings wanted = initial;
  wanted.paused = settings.paused;
  wanted.overlay = settings.overlay;
  wanted.facts_open = settings.facts_open;
  wanted.settings_open = settings.settings_open;
  wanted.help = settings.help;
  wanted.fullscreen = settings.fullscreen;
  settings = wanted;
}

}  // namespace saccade::ui
