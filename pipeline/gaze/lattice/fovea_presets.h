// Published half-resolution eccentricities.
// Sources: Geisler and Perry 1998; Horton and Hoyt 1991; Rovamo and Virsu 1979. uv: in units of the frame's width.
#pragma once

#include <array>
#include <string_view>

#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

struct FoveaPreset {
  const char* name;
  Acuity acuity;
};

inline constexpr std::array<FoveaPreset, 4> kFoveaPresets{
    {{"geisler-perry", {.unit = FoveaUnit::kDegrees, .e0 = 2.3, .m0 = 2.3}},
     {"horton-hoyt", {.unit = FoveaUnit::kDegrees, .e0 = 0.75, .m0 = 0.75}},
     {"rovamo-virsu", {.unit = FoveaUnit::kDegrees, .e0 = 3.0, .m0 = 3.0}},
     {"uv", {.unit = FoveaUnit::kUv, .e0 = 0.5, .m0 = 1.0}}}};

// Null: no preset of that name.
constexpr const FoveaPreset* find_preset(std::string_view name) {
  for (const FoveaPreset& preset : kFoveaPresets) {
    if (name == preset.name) return &preset;
  }
  return nullptr;
}

}  // namespace saccade
