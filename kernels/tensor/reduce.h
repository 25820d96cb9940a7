// Mip levels of tensors, and their gradient. With CUDA nothing allocates or waits. On the host levels above 6 take
// memory of the calling thread, kept for its next call.
//
// Note [Tensor levels]
// Level l has level_extent() texels a side. Floating numbers: each texel is ((a + b) + c) + d of the stored level
// below, top left, top right, bottom left, bottom right, then a quarter of it, rounded once: the bits of repeated
// avg_pool2d(x, 2). Integers: (sum of 4^l texels of level 0 + 2^(2l-1)) >> 2l, the true mean, rounded once. With kEdge
// the image goes on beyond its last row and column as their repetition.
#pragma once

#include "kernels/tensor/array_view.h"

namespace saccade::tensor {

struct ReduceArgs {
  ArrayView level[kMostLevels];  // 0 is read; 1 to levels - 1 are written. All of one dtype
  std::int32_t levels = 0;
  OddSizes odd = OddSizes::kFloor;
  void* workspace = nullptr;  // reduce_workspace_bytes() on the same device; on the host null: the thread's own
};

// Of what level 6, and 12, carried; 0 for up to 7 levels. An update on the host without it reads all of the image.
std::size_t reduce_workspace_bytes(const ReduceArgs& args);

struct ReduceGradArgs {
  ArrayView base;                       // [B, C, H, W]: gradient of level 0, written
  const void* level[kMostLevels] = {};  // [B, C, h, w] without gaps; null: none
  Dtype dtype = Dtype::kF32;            // of the levels' gradients: f32, f64, or the base's
  std::int32_t levels = 0;
  OddSizes odd = OddSizes::kFloor;
  const double* unit = nullptr;  // not null: levels are 64-bit integers of this unit (on the device)
};

namespace cpu {
// On up to `threads` threads, which change no bit.
void reduce(const ReduceArgs& args, int threads = 1);
void reduce_backward(const ReduceGradArgs& args, int threads = 1);
}  // namespace cpu

namespace cuda {
// `stream`: a cudaStream_t of the current device. Throws when the launch fails.
void reduce(const ReduceArgs& args, void* stream);
// The levels above 6 alone, after the workspace was brought up to date for the blocks of the image.
void reduce_coarse(const ReduceArgs& args, void* stream);
void reduce_backward(const ReduceGradArgs& args, void* stream);
}  // namespace cuda

}  // namespace saccade::tensor
