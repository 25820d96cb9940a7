// Centres of the patches of a nested lattice around fixations: constant distances from a centre that snaps to texels.
#pragma once

#include <cmath>

#include "kernels/tensor/element.h"

namespace saccade::tensor {

struct PlanArgs {
  const void* fixations;  // [M, 2] u, v, without gaps, f32 or f64
  const void* at_px;      // [N, 2] distances from the centre, of the same dtype
  void* centers;          // [M, N, 2] uv, written
  Dtype dtype;
  std::int32_t fixation_count, patch_count;
  std::int32_t width_px, height_px;
  std::int32_t snap_px;  // the centre is a multiple of it; 0: the fixation itself
};

// A coordinate of a patch's centre. A fixation is clamped to the image; one that is not a number is its middle.
template <class V>
SACCADE_TENSOR_FN V plan_coordinate(V fixation, V at_px, int extent_px, int snap_px) {
  const V inside = !(fixation == fixation) ? V(0.5) : fixation < V(0) ? V(0) : fixation < V(1) ? fixation : V(1);
  V center = inside * static_cast<V>(extent_px);
  if (snap_px > 0) {
    const double step = snap_px;
    center =
        static_cast<V>(std::floor(static_cast<double>(inside) * static_cast<double>(extent_px) / step + 0.5) * step);
  }
  return (center + at_px) / static_cast<V>(extent_px);
}

// `k`: 2 (m N + n) + axis.
template <class V>
SACCADE_TENSOR_FN void plan_one(const PlanArgs& args, std::int64_t k) {
  const auto axis = static_cast<int>(k % 2);
  const std::int64_t n = k / 2 % args.patch_count;
  const std::int64_t m = k / 2 / args.patch_count;
  static_cast<V*>(args.centers)[k] = plan_coordinate(static_cast<const V*>(args.fixations)[2 * m + axis],
                                                     static_cast<const V*>(args.at_px)[2 * n + axis],
                                                     axis == 0 ? args.width_px : args.height_px, args.snap_px);
}

inline std::int64_t plan_numbers(const PlanArgs& args) {
  return static_cast<std::int64_t>(args.fixation_count) * args.patch_count * 2;
}

namespace cpu {
void plan(const PlanArgs& args);
}  // namespace cpu

namespace cuda {
// `stream`: a cudaStream_t of the current device. Throws when the launch fails.
void plan(const PlanArgs& args, void* stream);
}  // namespace cuda

}  // namespace saccade::tensor
