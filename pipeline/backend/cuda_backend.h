// What both homes of a texture on the card have in common.
#pragma once

#include "kernels/cuda/pyramid.h"
#include "pipeline/backend/backend.h"

namespace saccade {

// Gives `parts` the differ and the fused update of `texture`, which is to live in parts.pyramid.
void work_on_card(BackendParts& parts, CudaPyramid& texture, const BackendConfig& config);

}  // namespace saccade
