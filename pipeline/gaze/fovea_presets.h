// Published half-resolution eccentricities.
// Sources: Geisler and Perry 1998; Horton and Hoyt 1991; Rovamo and Virsu 1979. uv: in units of the frame's width.
#pragma once

#include <array>
#include <string_view>

#include "pipeline/gaze/lattice.h"

namespace saccade {

struct FoveaPreset {
  const char* name;
  FoveaUnit unit;
  double m0, e0;  // in that unit
};

inline constexpr std::array<FoveaPreset, 4> kFoveaPresets{{{"geisler-perry", FoveaUnit::kDegrees, 2.3, 2.3},
                                                           {"horton-hoyt", FoveaUnit::kDegrees, 0.75, 0.75},
                                                           {"rovamo-virsu", FoveaUnit::kDegrees, 3.0, 3.0},
                                                           {"uv", FoveaUnit::kUv, 1.0, 0.5}}};

// Null: no preset of that name.
constexpr const FoveaPreset* find_preset(std::string_view name) {
  for (const FoveaPreset& preset : kFoveaPresets) {
    if (name == preset.name) return &preset;
  }
  return nullptr;
}

}  // namespace saccade
