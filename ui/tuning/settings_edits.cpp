#include "ui/tuning/settings_edits.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace saccade::ui {
namespace {

void set_acuity(LatticeConfig& lattice, const Acuity& acuity) {
  if (auto* grid = std::get_if<GridShape>(&lattice.shape)) {
    grid->acuity = acuity;
  } else if (auto* uniform = std::get_if<UniformShape>(&lattice.shape)) {
    uniform->acuity = acuity;
  } else if (!std::holds_alternative<AdaptiveShape>(lattice.shape)) {
    lattice.shape = acuity;
  }
}

}  // namespace

void set_preset(PipelineConfig& config, const FoveaPreset& preset) { set_acuity(config.lattice, preset.acuity); }

void set_context(AdaptiveShape& adaptive, const std::optional<ContextLength>& context) {
  constexpr double kLeast_s = 1e-3;
  adaptive.context = context;
  if (!context) return;
  const double least = context->seconds ? kLeast_s : static_cast<double>(adaptive.tokens);
  adaptive.context->value = std::max(context->value, least);
}

AdaptiveShape adaptive_of(const PipelineConfig& initial) {
  const auto* const shape = std::get_if<AdaptiveShape>(&initial.lattice.shape);
  return shape != nullptr ? *shape : AdaptiveShape{};
}

void set_lattice_kind(PipelineConfig& config, LatticeKind kind, int patches, const AdaptiveShape& adaptive) {
  LatticeConfig& lattice = config.lattice;
  if (kind == lattice_kind(lattice)) return;
  const Acuity* old = acuity_of(lattice);
  const std::optional<Acuity> acuity = old != nullptr ? std::optional(*old) : std::nullopt;
  const int count = patches_asked(lattice).value_or(patches);
  if (kind == LatticeKind::kGrid) {
    lattice.shape = GridShape{.patches = count, .acuity = acuity};
  } else if (kind == LatticeKind::kUniform) {
    lattice.shape = UniformShape{.patches = count, .lod = {}, .acuity = acuity};
  } else if (kind == LatticeKind::kAdaptive) {
    lattice.shape = adaptive;
    set_patches(lattice, count);
  } else if (acuity) {
    lattice.shape = *acuity;
  } else {
    lattice.shape = TokenBudget{.tokens = count, .fovea = {}};
  }
}

bool follows_budget(const LatticeConfig& lattice) {
  return std::holds_alternative<PatchBudget>(lattice.shape) || std::holds_alternative<TokenBudget>(lattice.shape);
}

void set_patches(LatticeConfig& lattice, int patches) {
  if (auto* grid = std::get_if<GridShape>(&lattice.shape)) {
    grid->patches = patches;
  } else if (auto* uniform = std::get_if<UniformShape>(&lattice.shape)) {
    uniform->patches = patches;
  } else if (auto* adaptive = std::get_if<AdaptiveShape>(&lattice.shape)) {
    adaptive->tokens = patches;
    set_context(*adaptive, adaptive->context);
  } else if (auto* tokens = std::get_if<TokenBudget>(&lattice.shape)) {
    tokens->tokens = patches;
  } else {
    lattice.shape = TokenBudget{.tokens = patches, .fovea = {}};
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

namespace {

bool is_nested(const PipelineConfig& config) { return lattice_kind(config.lattice) == LatticeKind::kNested; }

void reset_nested(PipelineConfig& config, const PipelineConfig& initial) {
  config.lattice.shape = is_nested(initial) ? initial.lattice.shape : decltype(config.lattice.shape)(TokenBudget{});
}

}  // namespace

void reset_lattice_kind(PipelineConfig& config, const PipelineConfig& initial, int patches) {
  set_lattice_kind(config, lattice_kind(initial.lattice), patches);
  if (std::holds_alternative<AdaptiveShape>(initial.lattice.shape)) config.lattice.shape = initial.lattice.shape;
}

void reset_patches(PipelineConfig& config, const PipelineConfig& initial) {
  if (is_nested(config)) return reset_nested(config, initial);
  set_patches(config, patches_asked(initial.lattice).value_or(kDefaultTokens));
}

void reset_fovea(PipelineConfig& config, const PipelineConfig& initial) {
  if (is_nested(config)) return reset_nested(config, initial);
  const Acuity* acuity = acuity_of(initial.lattice);
  const std::optional<Acuity> wanted = acuity != nullptr ? std::optional(*acuity) : std::nullopt;
  if (auto* grid = std::get_if<GridShape>(&config.lattice.shape)) grid->acuity = wanted;
  if (auto* uniform = std::get_if<UniformShape>(&config.lattice.shape)) uniform->acuity = wanted;
}

double as_written(float value) {
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  double read = static_cast<double>(value);
  std::from_chars(digits.data(), written.ptr, read);
  return read;
}

bool same_tuning(const PipelineConfig& a, const PipelineConfig& b) {
  return a.levels == b.levels && a.diff == b.diff && a.lattice == b.lattice && a.scanpath == b.scanpath;
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
