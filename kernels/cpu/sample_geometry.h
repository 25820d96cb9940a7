// Where one sample reads a level, along one axis, and which levels a level of detail mixes: the parts of
// Note [Sample positions] (shared/sampling.h) that the plain and the vector sampler have in common.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/shared/fovea.h"
#include "kernels/shared/sampling.h"

namespace saccade {

// The two neighbours of a texel coordinate, clamped to the level, and the weight of the second.
struct AxisTap {
  int first = 0;
  int second = 0;
  float weight = 0;
};

inline AxisTap axis_tap(float coordinate, int extent) {
  // One texel outside on either side reads the same as any distance further; not-a-number goes to the edge.
  const float inside = coordinate > -1.0f ? std::min(coordinate, static_cast<float>(extent)) : -1.0f;
  const float whole = std::floor(inside);
  const int index = static_cast<int>(whole);
  return {std::clamp(index, 0, extent - 1), std::clamp(index + 1, 0, extent - 1), inside - whole};
}

// value = level `first`, or its lerp with `second` when fraction > 0.
struct LevelMix {
  int first = 0;
  int second = 0;
  float fraction = 0;
};

inline LevelMix level_mix(float lod, int levels) {
  const float inside = shared::clamp(lod, 0.0f, static_cast<float>(levels - 1));
  const float whole = std::floor(inside);
  const int first = static_cast<int>(whole);
  return {first, std::min(first + 1, levels - 1), inside - whole};
}

// 2^-level, exact.
inline float level_scale(int level) { return 1.0f / static_cast<float>(1 << level); }

// How a plane maps level-0 luma positions to its texels.
struct PlaneScale {
  float plane_scale = 1.0f;
  float shift_x = 0.0f;
  float shift_y = 0.0f;
};

}  // namespace saccade
