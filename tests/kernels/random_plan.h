// Patches to sample in tests, of any place and size.
#pragma once

#include <cmath>
#include <random>

#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade::test {

// Centres in and around the image, whole and broken lods, some wholly outside, coverage by the definition.
inline PatchPlan random_plan(const PyramidLayout& layout, std::size_t count, int patch_size, bool whole_lods,
                             std::mt19937& rng) {
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  PatchPlan plan;
  plan.patch_size = patch_size;
  for (std::size_t n = 0; n < count; ++n) {
    Patch patch;
    patch.x_px = (unit(rng) * 1.4f - 0.2f) * static_cast<float>(layout.width_px);
    patch.y_px = (unit(rng) * 1.4f - 0.2f) * static_cast<float>(layout.height_px);
    patch.lod = unit(rng) * static_cast<float>(layout.levels - 1);
    if (whole_lods || n % 4 == 0) patch.lod = std::round(patch.lod);
    if (n % 5 == 0) patch.x_px = std::round(patch.x_px);
    if (n % 11 == 10) patch.x_px = -1e6f;
    patch.coverage = patch_coverage(patch, patch_size, layout.width_px, layout.height_px);
    plan.patches.push_back(patch);
  }
  return plan;
}

}  // namespace saccade::test
