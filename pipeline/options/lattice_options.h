// The one judge of lattice options: streams, dumps and the C interface's lattices fill a LatticeOptions, and
// lattice_of() says what they mean together. A LatticeConfig then holds no two that conflict.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/gaze/lattice/fovea_presets.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

struct LatticeOptions {
  std::optional<LatticeKind> kind;  // not given: kind_in_force()
  int patch_size = 16;
  double fov_deg = kDefaultFovDeg;
  // Unset: not given.
  std::optional<int> tokens;
  std::optional<FoveaWidth> fovea;
  const FoveaPreset* preset = nullptr;  // of kFoveaPresets
  std::optional<double> e0, m0;
  FoveaUnit unit = FoveaUnit::kDegrees;  // of e0 and m0
  std::optional<double> lod;
  std::optional<int> tokens_per_second;
  std::optional<double> target_psnr, eye;
  std::optional<ContextLength> context;
  std::optional<int> patches;            // a PatchBudget: leaves with the next version
  std::vector<int> strides, grid_sizes;  // ExplicitRings: options of the command line until the next version
  // The acuity comes from stored settings that name their lattice. They may hold what it leaves without effect: no
  // error then.
  bool acuity_is_stored = false;
};

// What was asked for. Else nested, where an option of a fovea or another patch size than adaptive's is given: fovea,
// e0, m0, preset, strides, grid-sizes, patches. Else adaptive, the default of every stream.
LatticeKind kind_in_force(const LatticeOptions& options);
std::span<const std::string_view> fovea_options();

// Throws OptionError for options that conflict or are incomplete.
LatticeConfig lattice_of(const LatticeOptions& options);
// Back: lattice_of() makes the same of it. A PatchBudget's m0 has no option and is left out.
LatticeOptions options_of(const LatticeConfig& config);

// Options of which only those of one side may be given; `kind` none: with any lattice.
struct OptionConflict {
  std::span<const std::string_view> one;
  std::span<const std::string_view> other;
  std::optional<LatticeKind> kind;
  std::string_view why;
};
std::span<const OptionConflict> option_conflicts();
std::span<const OptionConflict> legacy_option_conflicts();  // of options that leave with the next version

// Options that need one of these kinds of lattice, given or the default.
struct OptionsOfKinds {
  std::span<const std::string_view> names;
  std::span<const LatticeKind> kinds;
  bool allows(LatticeKind kind) const;
};
std::span<const OptionsOfKinds> options_of_kinds();

}  // namespace saccade
