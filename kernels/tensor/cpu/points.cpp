// Samples of single points.
#include "kernels/tensor/cpu/points.h"

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"

namespace saccade::tensor::cpu {
namespace {

constexpr std::int64_t kSamplesForAThread = 1 << 14;

template <class V>
void store_points(const SampleArgs& args, const V* values, int b, int first, int count, int c) {
  const PatchArray& out = args.patches;
  by_dtype(out.dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(out.data) + b * out.stride_b + first * out.stride_n + c * out.stride_c;
    for (int i = 0; i < count; ++i) store(values[i] * static_cast<V>(args.scale), to + i * out.stride_n);
  });
}

template <class T>
void sample_block(const SampleArgs& args, int b, int first, int count) {
  using V = Value<T>;
  const PointBlock<V> block(args, b, first, count);
  PointTaps<V> fine;
  PointTaps<V> coarse;
  block.make_taps(Mixed::kFine, false, &fine);
  if (block.mixes) block.make_taps(Mixed::kCoarse, false, &coarse);
  PointTexels<V> texels = {};
  for (int c = 0; c < args.channels; ++c) {
    V values[kPoints];
    block.template fetch<T>(Mixed::kFine, b, c, fine, &texels);
    point_ops<V>().blend(texels, fine, values);
    if (block.mixes) {
      V others[kPoints];
      block.template fetch<T>(Mixed::kCoarse, b, c, coarse, &texels);
      point_ops<V>().blend(texels, coarse, others);
      for (int i = 0; i < count; ++i) {
        if (block.fraction[i] > V(0)) values[i] = mix(values[i], others[i], block.fraction[i]);
      }
    }
    store_points(args, values, b, first, count, c);
  }
}

}  // namespace

void sample_points(const SampleArgs& args, int threads) {
  const std::int64_t blocks = (args.count + kPoints - 1) / kPoints;
  const std::int64_t samples = std::int64_t{kPoints} * std::max(1, args.channels);
  by_dtype(args.dtype, [&]<class T>(T) {
    parallel_for(args.batch * blocks, kSamplesForAThread / samples + 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) {
                     const int n = static_cast<int>(k % blocks) * kPoints;
                     sample_block<T>(args, static_cast<int>(k / blocks), n, std::min(kPoints, args.count - n));
                   }
                 });
  });
}

}  // namespace saccade::tensor::cpu
