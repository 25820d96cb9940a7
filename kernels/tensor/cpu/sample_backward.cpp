// The plain gradient of sampling: patches in order, so that sums never depend on threads.
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/cpu/points.h"
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

// The texels' part: a thread has whole channels, and takes the patches in order.
template <class T>
void spread_channel(const SampleArgs& args, const Texels<Value<T>>& texels, int b, int c) {
  using V = Value<T>;
  for (int n = 0; n < args.count; ++n) {
    const PatchFrame<V> patch = patch_at<V>(args, b, n);
    if (!touches(patch, texels.range)) continue;
    for (int j = 0; j < args.size; ++j) {
      for (int i = 0; i < args.size; ++i) spread_sample(args, texels, patch, b, n, c, i, j);
    }
  }
}

template <class T>
void run_places(const SampleArgs& args, const SampleGradients& gradients, int b, int n) {
  using V = Value<T>;
  const PatchFrame<V> patch = patch_at<V>(args, b, n);
  PatchSums<V> sums = {};
  const SampleGradients none = {};
  const Texels<V> texels{none, {}};
  for (int j = 0; j < args.size; ++j) {
    for (int i = 0; i < args.size; ++i) sample_back<T, true>(args, texels, patch, b, n, i, j, &sums);
  }
  write_patch(args, gradients, patch, sums, b, n);
}

template <class T>
void run(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, int threads) {
  const Texels<Value<T>> texels{gradients, range};
  bool any = false;
  for (int level = range.first; level <= range.last && level < args.levels; ++level) any = any || texels.wants(level);
  if (any) {
    parallel_for(
        static_cast<std::int64_t>(args.batch) * args.channels, 1, threads, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t k = first; k < last; ++k) {
            spread_channel<T>(args, texels, static_cast<int>(k / args.channels), static_cast<int>(k % args.channels));
          }
        });
  }
  if (gradients.centers == nullptr && gradients.lod == nullptr && gradients.direction == nullptr) return;
  parallel_for(static_cast<std::int64_t>(args.batch) * args.count, 16, threads,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t k = first; k < last; ++k) {
                   run_places<T>(args, gradients, static_cast<int>(k / args.count), static_cast<int>(k % args.count));
                 }
               });
}

}  // namespace

void sample_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, int threads) {
  if (are_points(args)) return sample_points_backward(args, gradients, range, threads);
  by_dtype(args.dtype, [&]<class T>(T) { run<T>(args, gradients, range, threads); });
}

}  // namespace saccade::tensor::cpu
