// The eye: what lies around the fixation counts more.
#pragma once

#include <span>

#include "kernels/pyramid_layout.h"
#include "kernels/shared/fovea.h"
#include "pipeline/gaze/weights/weight.h"

namespace saccade {

// Multiplies the weight of each tile by 1 - share + share * min(m0 / (e + e0), 1), e: the eccentricity of its centre.
// fix_*_px: level-0 pixels. share: 0, nothing, to 1, as resolution falls. In floats whose every operation rounds once:
// the same on every machine.
void weigh_by_acuity(const shared::FoveaParams& fovea, float fix_x_px, float fix_y_px, float share, TileGrid grid,
                     std::span<Weight> weights);

}  // namespace saccade
