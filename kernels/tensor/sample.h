// Sampling of pyramids in tensors, forward and backward. With CUDA nothing here allocates or waits; on the host nothing
// but threads takes memory.
#pragma once

#include "kernels/tensor/sample_args.h"

namespace saccade::tensor {

// Levels whose gradients a call adds up: first..last. Level 0 may so come after the others.
struct LevelRange {
  int first = 0, last = kMostLevels - 1;
};

namespace cpu {

// Note [Tensor samples] in sample_math.h. Every size may be 0. On up to `threads` threads, which change no bit.
void sample(const SampleArgs& args, int threads = 1);

// Adds to the levels' gradients, in a fixed order, and writes those of the patches. Floating levels only.
void sample_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, int threads = 1);

}  // namespace cpu

namespace cuda {

// `stream`: a cudaStream_t of the current device. Throws when the launch fails.
void sample(const SampleArgs& args, void* stream);

// Adds to the levels' gradients by atomics: their order changes the last bits, unless `fixed_point` asks for integers.
void sample_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, void* stream);

// The value of one step of integer gradients: 2^-40 of the greatest finite |gradient| that comes in, or more where all
// samples of a plane could not add up in one texel then (scale <= 1). sample_backward() makes it NaN as soon as it adds
// what is not finite. `unit`: two doubles on the device: the result and its inverse.
void gradient_unit(const PatchArray& gradient, int batch, int count, int channels, int size, double* unit,
                   void* stream);

// Zeros on the device.
void clear(void* data, std::size_t bytes, void* stream);

}  // namespace cuda

}  // namespace saccade::tensor
