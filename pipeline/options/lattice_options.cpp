#include "pipeline/options/lattice_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/options/option_error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

constexpr std::string_view kTokens[] = {"tokens"}, kFovea[] = {"fovea"}, kPreset[] = {"preset"};
constexpr std::string_view kNumbers[] = {"e0", "m0"}, kLaw[] = {"e0", "m0", "preset"};
constexpr auto kNested = LatticeKind::kNested;

constexpr OptionConflict kConflicts[] = {
    {kNumbers, kPreset, {}, "a preset sets e0 and M0"},
    {kTokens, kLaw, kNested, "the nested lattice solves its rings from the tokens, or follows e0 and M0"},
    {kFovea, kLaw, kNested, "e0 and M0 say how wide the fovea is"},
};

// Of options that leave with the next version.
constexpr std::string_view kPatches[] = {"patches"}, kRings[] = {"strides", "grid-sizes"};
constexpr std::string_view kBesidePatches[] = {"e0", "m0", "preset", "fovea", "strides", "grid-sizes"};
constexpr std::string_view kBesideRings[] = {"e0", "m0", "preset", "tokens", "fovea"};
constexpr OptionConflict kLegacyConflicts[] = {
    {kTokens, kPatches, {}, "a budget of patches inside the frame, or of all"},
    {kPatches, kBesidePatches, kNested, "the nested lattice solves its rings from the patches"},
    {kBesideRings, kRings, kNested, "the rings are given one by one"},
};

constexpr LatticeKind kOnlyNested[] = {kNested}, kOnlyAdaptive[] = {LatticeKind::kAdaptive};
constexpr LatticeKind kOnlyUniform[] = {LatticeKind::kUniform}, kOfAcuity[] = {kNested, LatticeKind::kGrid};
constexpr LatticeKind kOfPatches[] = {kNested, LatticeKind::kGrid, LatticeKind::kUniform};
constexpr std::string_view kShape[] = {"fovea", "strides", "grid-sizes"}, kLod[] = {"lod"};
constexpr std::string_view kOfFovea[] = {"fovea", "e0", "m0", "preset", "strides", "grid-sizes", "patches"};
constexpr std::string_view kReceiver[] = {"tokens-per-second", "target-psnr", "context", "eye"};
constexpr OptionsOfKinds kKinds[] = {
    {kLod, kOnlyUniform}, {kShape, kOnlyNested}, {kReceiver, kOnlyAdaptive}, {kPatches, kOfPatches}};

bool is_given(const LatticeOptions& options, std::string_view name) {
  const std::pair<std::string_view, bool> given[] = {{"patches", options.patches.has_value()},
                                                     {"tokens", options.tokens.has_value()},
                                                     {"fovea", options.fovea.has_value()},
                                                     {"preset", options.preset != nullptr},
                                                     {"e0", options.e0.has_value()},
                                                     {"m0", options.m0.has_value()},
                                                     {"lod", options.lod.has_value()},
                                                     {"target-psnr", options.target_psnr.has_value()},
                                                     {"context", options.context.has_value()},
                                                     {"eye", options.eye.has_value()},
                                                     {"tokens-per-second", options.tokens_per_second.has_value()},
                                                     {"strides", !options.strides.empty()},
                                                     {"grid-sizes", !options.grid_sizes.empty()}};
  for (const auto& [option, is] : given) {
    if (option == name) return is;
  }
  return false;
}

void exclude(const LatticeOptions& options, const OptionConflict& pair) {
  if (pair.kind && pair.kind != kind_in_force(options)) return;
  for (const std::string_view one : pair.one) {
    for (const std::string_view other : pair.other) {
      if (!is_given(options, one) || !is_given(options, other)) continue;
      throw OptionError::naming(one, fmt::format("conflicts with {{{}}}: {}; leave one out", other, pair.why));
    }
  }
}

[[noreturn]] void need(std::string_view option, std::span<const LatticeKind> kinds) {
  std::string list;
  for (const LatticeKind kind : kinds) list.append(list.empty() ? "" : "|").append(name(kind));
  throw OptionError::naming(option, fmt::format("needs {{+lattice}} {}", or_list(list)));
}

// Options that only another kind of lattice has a use for.
void check_kind(const LatticeOptions& options, LatticeKind kind) {
  for (const OptionsOfKinds& row : kKinds) {
    for (const std::string_view option : row.names) {
      if (is_given(options, option) && !row.allows(kind)) need(option, row.kinds);
    }
  }
  const bool follows = kind == kNested || kind == LatticeKind::kGrid;
  if (follows || options.acuity_is_stored) return;
  for (const std::string_view option : kLaw) {
    if (!is_given(options, option)) continue;
    if (kind == LatticeKind::kAdaptive) need(option, kOfAcuity);
    throw OptionError::naming(option, "{lattice} uniform has one resolution: {+lod}");
  }
}

// Else a look's own tokens would fall out of the context at once, and come again with every look.
void check_context(const LatticeOptions& options, int tokens) {
  if (!options.context || options.context->seconds || options.context->value >= tokens) return;
  throw OptionError::naming("context", fmt::format("keeps {:.6g} tokens, fewer than the {} of a look; give at least as "
                                                   "many, or fewer {{+tokens}}",
                                                   options.context->value, tokens));
}

void check_rings(const LatticeOptions& options) {
  if (options.strides.empty() != options.grid_sizes.empty()) {
    throw OptionError::naming(options.strides.empty() ? "grid-sizes" : "strides",
                              "{+strides} and {+grid-sizes} come together");
  }
  if (options.strides.size() != options.grid_sizes.size()) {
    throw OptionError::naming("grid-sizes", fmt::format("has {} values, {{strides}} has {}; each ring needs both",
                                                        options.grid_sizes.size(), options.strides.size()));
  }
}

std::optional<Acuity> acuity_of_options(const LatticeOptions& options) {
  if (options.preset != nullptr) return options.preset->acuity;
  return acuity_given(options.unit, options.e0, options.m0);
}

void set_acuity(LatticeOptions& options, const std::optional<Acuity>& acuity) {
  if (!acuity) return;
  if (acuity->unit == FoveaUnit::kUv) {
    options.preset = find_preset("uv");  // the only way to say so
    return;
  }
  options.e0 = acuity->e0;
  options.m0 = acuity->m0;
}

}  // namespace

std::span<const std::string_view> fovea_options() { return kOfFovea; }

LatticeKind kind_in_force(const LatticeOptions& options) {
  if (options.kind) return *options.kind;
  const bool of_fovea = std::any_of(std::begin(kOfFovea), std::end(kOfFovea),
                                    [&](std::string_view name) { return is_given(options, name); });
  return of_fovea || options.patch_size != LatticeOptions{}.patch_size ? kNested : LatticeKind::kAdaptive;
}

std::span<const OptionConflict> option_conflicts() { return kConflicts; }
std::span<const OptionConflict> legacy_option_conflicts() { return kLegacyConflicts; }

bool OptionsOfKinds::allows(LatticeKind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}
std::span<const OptionsOfKinds> options_of_kinds() { return kKinds; }

LatticeConfig lattice_of(const LatticeOptions& options) {
  const LatticeKind kind = kind_in_force(options);
  check_kind(options, kind);
  for (const OptionConflict& pair : kConflicts) exclude(options, pair);
  for (const OptionConflict& pair : kLegacyConflicts) exclude(options, pair);
  check_rings(options);
  LatticeConfig config{.patch_size = options.patch_size, .fov_deg = options.fov_deg, .shape = {}};
  const int count = options.tokens.value_or(options.patches.value_or(kDefaultTokens));
  const std::optional<Acuity> acuity = acuity_of_options(options);
  if (kind == LatticeKind::kGrid) {
    config.shape = GridShape{.patches = count, .acuity = acuity};
  } else if (kind == LatticeKind::kUniform) {
    const bool covers = options.lod && !options.tokens && !options.patches;
    config.shape =
        UniformShape{.patches = covers ? std::nullopt : std::optional(count), .lod = options.lod, .acuity = acuity};
  } else if (kind == LatticeKind::kAdaptive) {
    check_context(options, count);
    config.shape = AdaptiveShape{.tokens = count,
                                 .tokens_per_second = options.tokens_per_second,
                                 .target_psnr = options.target_psnr,
                                 .context = options.context,
                                 .eye = options.eye.value_or(0)};
  } else if (!options.strides.empty()) {
    config.shape = rings_given(options.strides, options.grid_sizes);
  } else if (acuity) {
    config.shape = *acuity;
  } else if (options.patches) {
    config.shape = PatchBudget{.patches = count, .m0 = {}};
  } else {
    config.shape = TokenBudget{.tokens = count, .fovea = options.fovea};
  }
  return config;
}

LatticeOptions options_of(const LatticeConfig& config) {
  LatticeOptions options;
  options.kind = lattice_kind(config);
  options.patch_size = config.patch_size;
  options.fov_deg = config.fov_deg;
  if (const auto* budget = std::get_if<TokenBudget>(&config.shape)) {
    options.tokens = budget->tokens;
    options.fovea = budget->fovea;
  } else if (const auto* adaptive = std::get_if<AdaptiveShape>(&config.shape)) {
    options.tokens = adaptive->tokens;
    options.tokens_per_second = adaptive->tokens_per_second;
    options.target_psnr = adaptive->target_psnr;
    options.context = adaptive->context;
    options.eye = adaptive->eye;
  } else if (std::holds_alternative<PatchBudget>(config.shape)) {
    options.patches = patches_asked(config);
  } else {
    options.tokens = patches_asked(config);
  }
  if (const Acuity* acuity = acuity_of(config)) set_acuity(options, *acuity);
  if (const auto* explicit_form = std::get_if<ExplicitRings>(&config.shape)) {
    for (const ExplicitRing& ring : explicit_form->rings) {
      options.strides.push_back(ring.stride);
      options.grid_sizes.push_back(ring.side);
    }
  }
  if (const auto* uniform = std::get_if<UniformShape>(&config.shape)) options.lod = uniform->lod;
  options.acuity_is_stored = true;
  return options;
}

}  // namespace saccade
