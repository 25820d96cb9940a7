// Sampling of pyramids in tensors, forward and backward. Nothing here allocates; with CUDA nothing waits.
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

// The value of one step of integer gradients, from the greatest |gradient| that comes in: so that 2^22 of them can add
// up and a step is 2^-40 of it. `unit`: two doubles on the device; the first is the result.
void gradient_unit(const PatchArray& gradient, int batch, int count, int channels, int size, double* unit,
                   void* stream);

// Zeros on the device.
void clear(void* data, std::size_t bytes, void* stream);

}  // namespace cuda

}  // namespace saccade::tensor
