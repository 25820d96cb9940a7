// The sampler on the host. Patches whose axes are the image's work out the taps of their rows and columns once; all
// others, and single points, go by the definition, sample by sample.
#include "kernels/tensor/sample.h"

#include <algorithm>
#include <vector>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cpu {
namespace {

constexpr int kTogether = 4;  // channels whose texels are read at once
constexpr std::int64_t kSamplesForAThread = 1 << 14;

template <class V>
struct AxisTap {
  std::int64_t first, second;  // elements from a channel's first
  V weight;                    // of the second
  bool first_inside, second_inside;
};

// Of one level: a tap for each column and each row of a patch.
template <class V>
struct PatchTaps {
  std::vector<AxisTap<V>> x, y;
};

template <class V>
void make_taps(const SampleArgs& args, const PatchFrame<V>& patch, int level, PatchTaps<V>* taps) {
  const LevelArray& array = args.level[level];
  const V scale = level_scale<V>(level);
  taps->x.clear();
  taps->y.clear();
  for (int k = 0; k < args.size; ++k) {
    const V offset = sample_offset<V>(k, args.size) * patch.pitch_px;
    const Tap<V> x = make_tap(patch.center_px.x + offset, scale, array.width, args.zeros != 0);
    const Tap<V> y = make_tap(patch.center_px.y + offset, scale, array.height, args.zeros != 0);
    taps->x.push_back({x.first * array.stride_x, x.second * array.stride_x, x.weight, x.first_inside, x.second_inside});
    taps->y.push_back({y.first * array.stride_y, y.second * array.stride_y, y.weight, y.first_inside, y.second_inside});
  }
}

template <class T>
void read_row(const T* channel, const PatchTaps<Value<T>>& taps, int j, Value<T>* row) {
  using V = Value<T>;
  const AxisTap<V>& y = taps.y[static_cast<std::size_t>(j)];
  const T* top = channel + y.first;
  const T* bottom = channel + y.second;
  std::size_t i = 0;
  for (const AxisTap<V>& x : taps.x) {
    V texels[4] = {load(top[x.first]), load(top[x.second]), load(bottom[x.first]), load(bottom[x.second])};
    if (!x.first_inside || !y.first_inside) texels[0] = V(0);
    if (!x.second_inside || !y.first_inside) texels[1] = V(0);
    if (!x.first_inside || !y.second_inside) texels[2] = V(0);
    if (!x.second_inside || !y.second_inside) texels[3] = V(0);
    row[i++] = bilinear(texels, x.weight, y.weight);
  }
}

template <class T>
struct PatchSampler {
  using V = Value<T>;
  const SampleArgs& args;
  PatchTaps<V> fine, coarse;
  std::vector<V> row, coarse_row;

  explicit PatchSampler(const SampleArgs& given)
      : args(given), row(static_cast<std::size_t>(args.size)), coarse_row(static_cast<std::size_t>(args.size)) {}

  void sample(int b, int n) {
    const PatchFrame<V> patch = patch_at<V>(args, b, n);
    const bool mixed = patch.fraction > V(0);
    make_taps(args, patch, patch.first, &fine);
    if (mixed) make_taps(args, patch, patch.second, &coarse);
    for (int c = 0; c < args.channels; ++c) {
      const T* fine_channel = channel_of<T>(args.level[patch.first], b, c);
      const T* coarse_channel = channel_of<T>(args.level[patch.second], b, c);
      for (int j = 0; j < args.size; ++j) {
        read_row<T>(fine_channel, fine, j, row.data());
        if (mixed) {
          read_row<T>(coarse_channel, coarse, j, coarse_row.data());
          for (std::size_t i = 0; i < row.size(); ++i) row[i] = mix(row[i], coarse_row[i], patch.fraction);
        }
        for (int i = 0; i < args.size; ++i) store_sample(args, row[static_cast<std::size_t>(i)], b, n, c, i, j);
      }
    }
  }
};

template <class T>
void sample_anyhow(const SampleArgs& args, int b, int n) {
  const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, b, n);
  for (int j = 0; j < args.size; ++j) {
    for (int i = 0; i < args.size; ++i) {
      for (int c = 0; c < args.channels; c += kTogether) sample_channels<T, kTogether>(args, patch, b, n, i, j, c);
    }
  }
}

template <class T>
void run(const SampleArgs& args, int threads) {
  const std::int64_t patches = static_cast<std::int64_t>(args.batch) * args.count;
  const std::int64_t samples = static_cast<std::int64_t>(args.size) * args.size * std::max(1, args.channels);
  parallel_for(patches, kSamplesForAThread / std::max<std::int64_t>(1, samples) + 1, threads,
               [&](std::int64_t first, std::int64_t last) {
                 PatchSampler<T> sampler(args);
                 for (std::int64_t k = first; k < last; ++k) {
                   const int b = static_cast<int>(k / args.count);
                   const int n = static_cast<int>(k % args.count);
                   if (args.direction.data != nullptr || args.size == 1) {
                     sample_anyhow<T>(args, b, n);
                   } else {
                     sampler.sample(b, n);
                   }
                 }
               });
}

}  // namespace

void sample(const SampleArgs& args, int threads) {
  by_dtype(args.dtype, [&]<class T>(T) { run<T>(args, threads); });
}

}  // namespace saccade::tensor::cpu
