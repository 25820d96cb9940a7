// What a person's choice means for the pipeline's settings: pure functions, each leaving a combination that
// Pipeline::configure and a settings file accept.
#pragma once

#include <optional>
#include <string>

#include "pipeline/gaze/lattice/fovea_presets.h"
#include "pipeline/run/pipeline.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

void set_preset(PipelineConfig& config, const FoveaPreset& preset);

// Keeps N and the acuity where both lattices have them; `patches` is N where the old one has none of its own, and
// `adaptive` has all else of that lattice.
void set_lattice_kind(PipelineConfig& config, LatticeKind kind, int patches = kDefaultTokens,
                      const AdaptiveShape& adaptive = {});

// Is e0 solved from the number of patches (nested alone)?
bool follows_budget(const LatticeConfig& lattice);

// N decides, nested solves e0 from it.
void set_patches(LatticeConfig& lattice, int patches);
inline void set_patches(PipelineConfig& config, int patches) { set_patches(config.lattice, patches); }

// e0 and M0 decide, in degrees; nested makes as many patches as they need. Adaptive has no acuity, and stays.
void set_fovea(PipelineConfig& config, double e0, double m0);

// The receiver keeps at least the tokens of a look: fewer are refused. nullopt: all.
void set_context(AdaptiveShape& adaptive, const std::optional<ContextLength>& context);

// What adaptive began with, else its defaults.
AdaptiveShape adaptive_of(const PipelineConfig& initial);

void set_fov(PipelineConfig& config, double fov_deg);
void set_policy(PipelineConfig& config, FixationPolicy policy);

// Rows back to how they began. Nested has one shape for N, e0 and M0: they go back together, as all of adaptive does.
void reset_lattice_kind(PipelineConfig& config, const PipelineConfig& initial, int patches);
void reset_patches(PipelineConfig& config, const PipelineConfig& initial);
void reset_fovea(PipelineConfig& config, const PipelineConfig& initial);

// The double with the digits that write this float: 2.3, not 2.299999952316284. Settings are saved as doubles.
double as_written(float value);

// Whether all that a person tunes of the pipeline is equal.
bool same_tuning(const PipelineConfig& a, const PipelineConfig& b);

// Everything that was tuned, back to what it was: all but whether it plays, and what lies over the picture.
void reset_settings(ViewSettings& settings, const ViewSettings& initial);

}  // namespace saccade::ui
