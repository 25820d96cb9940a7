// The sampler on the host. Patches whose axes are the image's work out the taps of their rows and columns once; all
// others, and single points, go by the definition, sample by sample.
#include "kernels/tensor/sample.h"

#include <algorithm>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/cpu/points.h"
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

// Columns and rows of a patch whose taps are held at once.
constexpr int kTapsAtOnce = 64;

struct PatchPart {
  int first_i, first_j, width, height;
};

// Of one level: a tap for each column and each row of a part of a patch.
template <class V>
struct PatchTaps {
  AxisTap<V> x[kTapsAtOnce], y[kTapsAtOnce];
};

template <class V>
AxisTap<V> axis_tap(const SampleArgs& args, const PatchFrame<V>& patch, V center_px, int k, int level, int extent,
                    std::int64_t stride, const AxisRead& read) {
  const V place_px = center_px + sample_offset<V>(k, args.size) * patch.pitch_px;
  const Tap<V> tap = make_tap(place_px, level_scale<V>(level), extent, read);
  return {tap.first * stride, tap.second * stride, tap.weight, tap.first_inside, tap.second_inside};
}

template <class V>
void make_taps(const SampleArgs& args, const PatchFrame<V>& patch, int level, const PatchPart& part,
               PatchTaps<V>* taps) {
  const LevelArray& array = args.level[level];
  for (int i = 0; i < part.width; ++i) {
    taps->x[i] =
        axis_tap(args, patch, patch.center_px.x, part.first_i + i, level, array.width, array.stride_x, read_x_of(args));
  }
  for (int j = 0; j < part.height; ++j) {
    taps->y[j] = axis_tap(args, patch, patch.center_px.y, part.first_j + j, level, array.height, array.stride_y,
                          read_y_of(args));
  }
}

template <class T>
void read_row(const T* channel, const PatchTaps<Value<T>>& taps, int width, int j, Value<T>* row) {
  using V = Value<T>;
  const AxisTap<V>& y = taps.y[j];
  const T* top = channel + y.first;
  const T* bottom = channel + y.second;
  for (int i = 0; i < width; ++i) {
    const AxisTap<V>& x = taps.x[i];
    V texels[4] = {load(top[x.first]), load(top[x.second]), load(bottom[x.first]), load(bottom[x.second])};
    if (!x.first_inside || !y.first_inside) texels[0] = V(0);
    if (!x.second_inside || !y.first_inside) texels[1] = V(0);
    if (!x.first_inside || !y.second_inside) texels[2] = V(0);
    if (!x.second_inside || !y.second_inside) texels[3] = V(0);
    row[i] = bilinear(texels, x.weight, y.weight);
  }
}

template <class T>
void sample_part(const SampleArgs& args, const PatchFrame<Value<T>>& patch, int b, int n, const PatchPart& part) {
  using V = Value<T>;
  const bool mixed = patch.fraction > V(0);
  PatchTaps<V> fine;
  PatchTaps<V> coarse;
  make_taps(args, patch, patch.first, part, &fine);
  if (mixed) make_taps(args, patch, patch.second, part, &coarse);
  for (int c = 0; c < args.channels; ++c) {
    const T* fine_channel = channel_of<T>(args.level[patch.first], b, c);
    const T* coarse_channel = channel_of<T>(args.level[patch.second], b, c);
    for (int j = 0; j < part.height; ++j) {
      V row[kTapsAtOnce];
      read_row<T>(fine_channel, fine, part.width, j, row);
      if (mixed) {
        V other[kTapsAtOnce];
        read_row<T>(coarse_channel, coarse, part.width, j, other);
        for (int i = 0; i < part.width; ++i) row[i] = mix(row[i], other[i], patch.fraction);
      }
      for (int i = 0; i < part.width; ++i) {
        store_sample(args, row[i], b, n, c, part.first_i + i, part.first_j + j);
      }
    }
  }
}

template <class T>
void sample_patch(const SampleArgs& args, int b, int n) {
  const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, b, n);
  for (int j = 0; j < args.size; j += kTapsAtOnce) {
    for (int i = 0; i < args.size; i += kTapsAtOnce) {
      sample_part<T>(args, patch, b, n,
                     {i, j, std::min(kTapsAtOnce, args.size - i), std::min(kTapsAtOnce, args.size - j)});
    }
  }
}

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
                 for (std::int64_t k = first; k < last; ++k) {
                   const int b = static_cast<int>(k / args.count);
                   const int n = static_cast<int>(k % args.count);
                   if (args.direction.data != nullptr) {
                     sample_anyhow<T>(args, b, n);
                   } else {
                     sample_patch<T>(args, b, n);
                   }
                 }
               });
}

}  // namespace

void sample(const SampleArgs& args, int threads) {
  if (are_points(args)) return sample_points(args, threads);
  by_dtype(args.dtype, [&]<class T>(T) { run<T>(args, threads); });
}

}  // namespace saccade::tensor::cpu
