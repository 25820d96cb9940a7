// What the plain and the vector sampler have in common (Note [Sample positions] in shared/sampling.h).
#pragma once

#include "kernels/shared/fovea.h"
#include "kernels/shared/half.h"
#include "kernels/shared/sampling.h"
#include "kernels/shared/taps.h"

namespace saccade {

using shared::axis_tap;
using shared::level_mix;
using AxisTap = shared::AxisTap<float>;
using LevelMix = shared::LevelMix<float>;

// How a plane maps level-0 luma positions to its texels.
struct PlaneScale {
  float plane_scale = 1.0f;
  float shift_x = 0.0f;
  float shift_y = 0.0f;
};

}  // namespace saccade
