#include "pipeline/options/lattice_options.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/options/option_error.h"

namespace saccade {
namespace {

constexpr std::string_view kSolvedOrGiven = "the nested lattice solves e0 from the number of patches, or follows e0";
constexpr std::string_view kSolvedOrPreset =
    "the nested lattice solves e0 from the number of patches, or follows the preset";
constexpr std::string_view kRingsGiven = "the rings are given one by one";
constexpr std::string_view kTokensOrGiven = "the nested lattice solves its rings from the tokens, or follows e0";
constexpr std::string_view kTokensOrPreset =
    "the nested lattice solves its rings from the tokens, or follows the preset";
constexpr std::string_view kFoveaOfTokens = "a fovea of its own goes with a budget of tokens";
constexpr std::string_view kFoveaOrGiven = "M0 and e0 say how wide the fovea is";
constexpr auto kNested = LatticeKind::kNested;

constexpr OptionConflict kConflicts[] = {
    {"e0", "preset", {}, "a preset sets e0"},
    {"m0", "preset", {}, "a preset sets M0"},
    {"patches", "e0", kNested, kSolvedOrGiven},
    {"patches", "preset", kNested, kSolvedOrPreset},
    {"patches", "strides", kNested, kRingsGiven},
    {"patches", "grid-sizes", kNested, kRingsGiven},
    {"e0", "strides", kNested, kRingsGiven},
    {"e0", "grid-sizes", kNested, kRingsGiven},
    {"m0", "strides", kNested, kRingsGiven},
    {"m0", "grid-sizes", kNested, kRingsGiven},
    {"preset", "strides", kNested, kRingsGiven},
    {"preset", "grid-sizes", kNested, kRingsGiven},
    {"tokens", "patches", {}, "a budget of patches inside the frame, or of all"},
    {"tokens", "e0", kNested, kTokensOrGiven},
    {"tokens", "preset", kNested, kTokensOrPreset},
    {"tokens", "strides", kNested, kRingsGiven},
    {"tokens", "grid-sizes", kNested, kRingsGiven},
    {"fovea", "patches", kNested, kFoveaOfTokens},
    {"fovea", "e0", kNested, kFoveaOrGiven},
    {"fovea", "m0", kNested, kFoveaOrGiven},
    {"fovea", "preset", kNested, kFoveaOrGiven},
    {"fovea", "strides", kNested, kRingsGiven},
    {"fovea", "grid-sizes", kNested, kRingsGiven},
};

bool is_given(const LatticeOptions& options, std::string_view name) {
  const std::pair<std::string_view, bool> given[] = {{"patches", options.patches.has_value()},
                                                     {"tokens", options.tokens.has_value()},
                                                     {"fovea", options.fovea.has_value()},
                                                     {"preset", options.preset != nullptr},
                                                     {"e0", options.e0.has_value()},
                                                     {"m0", options.m0.has_value()},
                                                     {"lod", options.lod.has_value()},
                                                     {"strides", !options.strides.empty()},
                                                     {"grid-sizes", !options.grid_sizes.empty()}};
  for (const auto& [option, is] : given) {
    if (option == name) return is;
  }
  return false;
}

void exclude_pairs(const LatticeOptions& options, std::optional<LatticeKind> kind) {
  for (const OptionConflict& pair : kConflicts) {
    if (pair.kind != kind || !is_given(options, pair.one) || !is_given(options, pair.other)) continue;
    throw OptionError::naming(pair.one, fmt::format("conflicts with {{{}}}: {}; leave one out", pair.other, pair.why));
  }
}

// Options that only another kind of lattice has a use for.
void check_kind(const LatticeOptions& options) {
  const bool uniform = options.kind == LatticeKind::kUniform;
  if (options.lod && !uniform) throw OptionError::naming("lod", "needs {+lattice} uniform");
  for (const char* name : {"strides", "grid-sizes", "fovea"}) {
    if (is_given(options, name) && options.kind != kNested) throw OptionError::naming(name, "needs {+lattice} nested");
  }
  for (const char* name : {"e0", "m0", "preset"}) {
    if (!uniform || options.acuity_is_stored || !is_given(options, name)) continue;
    throw OptionError::naming(name, "{lattice} uniform has one resolution: {+lod}");
  }
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
  return acuity_given(FoveaUnit::kDegrees, options.e0, options.m0);
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

std::span<const OptionConflict> option_conflicts() { return kConflicts; }

LatticeConfig lattice_of(const LatticeOptions& options) {
  exclude_pairs(options, std::nullopt);
  check_kind(options);
  check_rings(options);
  LatticeConfig config{.patch_size = options.patch_size, .fov_deg = options.fov_deg, .shape = {}};
  const int patches = options.patches.value_or(options.tokens.value_or(kDefaultPatches));
  const std::optional<Acuity> acuity = acuity_of_options(options);
  if (options.kind == LatticeKind::kGrid) {
    config.shape = GridShape{.patches = patches, .acuity = acuity};
  } else if (options.kind == LatticeKind::kUniform) {
    config.shape = UniformShape{.patches = patches, .lod = options.lod, .acuity = acuity};
  } else {
    exclude_pairs(options, kNested);
    if (options.m0 && !options.e0) {
      throw OptionError::naming("m0", "needs {+e0} as well: the nested lattice solves for M0 = e0");
    }
    if (!options.strides.empty()) {
      config.shape = rings_given(options.strides, options.grid_sizes);
    } else if (acuity) {
      config.shape = *acuity;
    } else if (options.patches) {
      config.shape = PatchBudget{.patches = patches, .m0 = {}};
    } else {
      config.shape = TokenBudget{.tokens = options.tokens.value_or(kDefaultTokens), .fovea = options.fovea};
    }
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
  } else {
    options.patches = patches_asked(config);
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
