// The plain gradient of sampling: patches in order, so that sums never depend on threads.
#include "kernels/tensor/sample_back.h"

namespace saccade::tensor::cpu {
namespace {

template <class V>
struct Texels {
  const SampleGradients& gradients;
  LevelRange range;

  bool wants(int level) const {
    return gradients.level[level] != nullptr && level >= range.first && level <= range.last;
  }
  void add(int level, std::int64_t at, V value) const { static_cast<V*>(gradients.level[level])[at] += value; }
};

template <class T, bool kPlaces>
void run(const SampleArgs& args, const SampleGradients& gradients, LevelRange range) {
  using V = Value<T>;
  const Texels<V> texels{gradients, range};
  for (int b = 0; b < args.batch; ++b) {
    for (int n = 0; n < args.count; ++n) {
      const PatchFrame<V> patch = patch_at<V>(args, b, n);
      PatchSums<V> sums = {};
      for (int j = 0; j < args.size; ++j) {
        for (int i = 0; i < args.size; ++i) sample_back<T, kPlaces>(args, texels, patch, b, n, i, j, &sums);
      }
      if constexpr (kPlaces) write_patch(args, gradients, patch, sums, b, n);
    }
  }
}

template <class T>
void run(const SampleArgs& args, const SampleGradients& gradients, LevelRange range) {
  const bool places = gradients.centers != nullptr || gradients.lod != nullptr || gradients.direction != nullptr;
  return places ? run<T, true>(args, gradients, range) : run<T, false>(args, gradients, range);
}

}  // namespace

void sample_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range) {
  switch (args.dtype) {
    case Dtype::kU8:
      return run<std::uint8_t>(args, gradients, range);
    case Dtype::kU16:
      return run<std::uint16_t>(args, gradients, range);
    case Dtype::kF16:
      return run<Half>(args, gradients, range);
    case Dtype::kBf16:
      return run<Bfloat>(args, gradients, range);
    case Dtype::kF32:
      return run<float>(args, gradients, range);
    case Dtype::kF64:
      return run<double>(args, gradients, range);
  }
}

}  // namespace saccade::tensor::cpu
