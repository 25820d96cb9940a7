// A pyramid in CUDA arrays, to be sampled by the texture unit: for each level a layered array of its very size, a layer
// a plane. Fractions between texels have 8 bits there; levels are mixed in floats. u8, u16, f16 and f32.
#pragma once

#include <memory>

#include "kernels/tensor/reduce.h"
#include "kernels/tensor/sample_args.h"

namespace saccade::tensor::cuda {

// Of one device, whose context is current in every call. Calls order themselves, also between streams; while a stream
// is captured that is the caller's task. One thread at a time. The destructor waits for what is queued.
class HardwareTexture {
 public:
  // Why the device can't have such a texture; empty: it can.
  static const char* refusal(const ReduceArgs& levels);

  // Allocates and fills. `levels`: each without gaps. Throws CudaError.
  HardwareTexture(int device, const ReduceArgs& levels, void* stream);
  ~HardwareTexture();
  HardwareTexture(const HardwareTexture&) = delete;
  HardwareTexture& operator=(const HardwareTexture&) = delete;

  bool fits(const ReduceArgs& levels) const;
  void fill(const ReduceArgs& levels, void* stream);

  // As sample(); the levels of `args` give sizes alone.
  void sample(const SampleArgs& args, void* stream);

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace saccade::tensor::cuda
