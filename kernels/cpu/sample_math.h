// What the plain and the vector sampler have in common: where one sample reads a level, along one axis, and which
// levels a level of detail mixes (Note [Sample positions] in shared/sampling.h); half precision.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

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

// IEEE 754 binary32 to binary16, to nearest, ties to even.
inline std::uint16_t half_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U;  // not a number
  } else if (magnitude >= 0x47800000U) {
    half = 0x7c00U;  // 65536 and more: infinity
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 halves are subnormal, 2^-24 apart: adding 0.5 lets the float unit round to that step.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000U;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    half = (magnitude - 0x38000000U + 0xfffU + odd) >> 13;  // a carry may reach infinity: that is right
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace saccade
