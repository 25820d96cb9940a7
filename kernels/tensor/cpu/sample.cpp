// The plain sampler: the definition, patch by patch.
#include "kernels/tensor/sample.h"

#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cpu {
namespace {

constexpr int kTogether = 4;  // channels whose texels are read at once

template <class T>
void run(const SampleArgs& args) {
  for (int b = 0; b < args.batch; ++b) {
    for (int n = 0; n < args.count; ++n) {
      const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, b, n);
      for (int j = 0; j < args.size; ++j) {
        for (int i = 0; i < args.size; ++i) {
          for (int c = 0; c < args.channels; c += kTogether) sample_channels<T, kTogether>(args, patch, b, n, i, j, c);
        }
      }
    }
  }
}

}  // namespace

void sample(const SampleArgs& args) {
  switch (args.dtype) {
    case Dtype::kU8:
      return run<std::uint8_t>(args);
    case Dtype::kU16:
      return run<std::uint16_t>(args);
    case Dtype::kF16:
      return run<Half>(args);
    case Dtype::kBf16:
      return run<Bfloat>(args);
    case Dtype::kF32:
      return run<float>(args);
    case Dtype::kF64:
      return run<double>(args);
  }
}

}  // namespace saccade::tensor::cpu
