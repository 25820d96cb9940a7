// A lattice as its options say it: one by one, and only some of them go together. lattice_of() is where that is
// checked; a LatticeConfig then holds no two that conflict.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/gaze/fovea_presets.h"
#include "pipeline/gaze/lattice.h"

namespace saccade {

struct LatticeOptions {
  LatticeKind kind = LatticeKind::kNested;
  int patch_size = 16;
  double fov_deg = kDefaultFovDeg;
  // Unset: not given.
  std::optional<int> patches, tokens;
  std::optional<FoveaWidth> fovea;
  const FoveaPreset* preset = nullptr;  // of kFoveaPresets
  std::optional<double> e0, m0;
  std::optional<double> lod;
  std::vector<int> strides, grid_sizes;
  // The acuity comes from stored settings, which may hold what another one leaves without effect: no error then.
  bool acuity_is_stored = false;
};

// Throws OptionError for options that conflict or are incomplete.
LatticeConfig lattice_of(const LatticeOptions& options);
// Back: lattice_of() makes the same of it. A PatchBudget's m0 has no option and is left out.
LatticeOptions options_of(const LatticeConfig& config);

// Two options of which only one may be given; `kind` none: with any lattice.
struct OptionConflict {
  std::string_view one;
  std::string_view other;
  std::optional<LatticeKind> kind;
  std::string_view why;
};
std::span<const OptionConflict> option_conflicts();

}  // namespace saccade
