// What the sampling of tensors is given, by value: one struct for the plain loops and the kernels.
#pragma once

#include <cstdint>

#include "kernels/tensor/array_view.h"
#include "kernels/tensor/sample_math.h"

namespace saccade::tensor {

// One level of a pyramid: [B, C, height, width], strides in elements.
struct LevelArray {
  const void* data;
  std::int64_t stride_b, stride_c, stride_y, stride_x;
  std::int32_t width, height;
};

// Numbers that come with each patch: [B, N, K], the last axis without gaps; a stride of 0 repeats.
struct PatchNumbers {
  const void* data;  // null: not given
  std::int64_t stride_b, stride_n;
};

// [B, N, C, S, S], strides in elements.
struct PatchArray {
  void* data;
  std::int64_t stride_b, stride_n, stride_c, stride_y, stride_x;
  Dtype dtype;
  std::int32_t pad0;
};

struct SampleArgs {
  LevelArray level[kMostLevels];
  PatchNumbers centers;    // uv: (x, y) in 0..1 of level 0; x first
  PatchNumbers lod;        // log2 of the distance of samples in level-0 pixels, clamped to 0..levels - 1
  PatchNumbers direction;  // optional: (x, y), its length the ratio of along to across, clamped to 1..max_anisotropy
  PatchArray patches;      // forward: written; backward: the gradient that comes in
  std::int32_t levels;
  Dtype dtype;                                // of the levels
  Dtype coordinates;                          // of centers, lod and direction: f32 or f64
  std::int32_t batch, channels, count, size;  // B, C, N, S
  Padding padding;                            // outside the image
  std::int32_t max_anisotropy;                // >= 1
  std::int32_t rotate;                        // 1: a patch's x axis lies along its direction
  float scale;                                // of every value before it is stored: 1/255 makes u8 codes 0..1
  std::int32_t nearest;                       // 1: of each level the nearest texel; levels are mixed as ever
};

SACCADE_TENSOR_FN AxisRead read_x_of(const SampleArgs& args) {
  return {args.padding, args.nearest != 0, args.level[0].width};
}
SACCADE_TENSOR_FN AxisRead read_y_of(const SampleArgs& args) {
  return {args.padding, args.nearest != 0, args.level[0].height};
}

// Gradients of a sampling; each is added to, and may be null. Arrays are [B, C, height, width] without gaps.
struct SampleGradients {
  void* level[kMostLevels];  // float, double for f64; with `fixed_point` 64-bit integers
  void* centers;             // [B, N, 2] like the coordinates, without gaps; written, not added to
  void* lod;                 // [B, N]
  void* direction;           // [B, N, 2]
  const double* unit;        // fixed point: the value of one step and its inverse, on the device
  std::int32_t fixed_point;  // 1: the levels' sums do not depend on order
  std::int32_t pad0;
};

}  // namespace saccade::tensor
