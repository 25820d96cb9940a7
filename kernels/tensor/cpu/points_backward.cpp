// The gradient of single points. A thread has whole channels of levels, and takes the points in order: sums do not
// depend on threads.
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/cpu/points.h"
#include "kernels/tensor/sample_back.h"

namespace saccade::tensor::cpu {
namespace {

constexpr std::int64_t kSamplesForAThread = 1 << 14;

// The gradient that comes in for a channel of a block, as spread() takes it.
template <class V>
void read_gradient(const SampleArgs& args, int b, int first, int count, int c, V* gradient) {
  const PatchArray& in = args.patches;
  by_dtype(in.dtype, [&]<class T>(T) {
    const T* from = static_cast<const T*>(in.data) + b * in.stride_b + first * in.stride_n + c * in.stride_c;
    for (int i = 0; i < count; ++i) {
      gradient[i] = static_cast<V>(load(from[i * in.stride_n])) * static_cast<V>(args.scale);
    }
  });
}

// Channels first_channel to last_channel of the levels of image b.
template <class V>
class Spread {
 public:
  Spread(const SampleArgs& args, const SampleGradients& gradients, LevelRange range)
      : args_(args), gradients_(gradients), range_(range) {}

  bool any() const {
    for (int level = 0; level < args_.levels; ++level) {
      if (wants(level)) return true;
    }
    return false;
  }

  void run(int b, int first_channel, int last_channel) const {
    for (int first = 0; first < args_.count; first += kPoints) {
      const PointBlock<V> block(args_, b, first, std::min(kPoints, args_.count - first));
      PointTaps<V> taps[2];
      PointTexels<V> weights[2];
      block.make_taps(Mixed::kFine, true, &taps[0]);
      const bool all_count = point_ops<V>().weights(taps[0], args_.padding == Padding::kZeros, &weights[0]);
      if (block.mixes) {
        block.make_taps(Mixed::kCoarse, true, &taps[1]);
        point_ops<V>().weights(taps[1], args_.padding == Padding::kZeros, &weights[1]);
      }
      for (int c = first_channel; c < last_channel; ++c) {
        V gradient[kPoints] = {};
        read_gradient(args_, b, first, block.count(), c, gradient);
        V* sums[kMostLevels] = {};
        for (int level = 0; level < args_.levels; ++level) sums[level] = wants(level) ? channel(level, b, c) : nullptr;
        add(block, taps, weights, all_count, gradient, sums);
      }
    }
  }

 private:
  bool wants(int level) const {
    return gradients_.level[level] != nullptr && level >= range_.first && level <= range_.last;
  }
  V* channel(int level, int b, int c) const {
    const LevelArray& array = args_.level[level];
    return static_cast<V*>(gradients_.level[level]) +
           (std::int64_t{b} * args_.channels + c) * array.width * array.height;
  }

  // In the order of the points; of a point the finer level first.
  void add(const PointBlock<V>& block, const PointTaps<V>* taps, const PointTexels<V>* weights, bool all_count,
           const V* gradient, V* const* sums) const {
    if (all_count && !block.mixes && block.is_even()) {
      V* fine = sums[block.level(Mixed::kFine, 0)];
      if (fine != nullptr) add_quads(taps[0], weights[0], block.count(), gradient, fine);
      return;
    }
    for (int i = 0; i < block.count(); ++i) {
      V* fine = sums[block.level(Mixed::kFine, i)];
      if (fine != nullptr) add_quad(taps[0], weights[0], i, gradient[i] * (V(1) - block.fraction[i]), fine);
      if (!(block.fraction[i] > V(0))) continue;
      V* coarse = sums[block.level(Mixed::kCoarse, i)];
      if (coarse != nullptr) add_quad(taps[1], weights[1], i, gradient[i] * block.fraction[i], coarse);
    }
  }

  static void add_quad(const PointTaps<V>& taps, const PointTexels<V>& weights, int i, V gradient, V* sums) {
    for (int k = 0; k < 4; ++k) {
      const V weight = weights.at[k][i];
      if (weight != V(0)) sums[taps.at[k][i]] += gradient * weight;
    }
  }

  // The same of points of one level all of which have weights. Texels are fetched ahead: the processor itself does not
  // read past sums that are still to be written.
  static void add_quads(const PointTaps<V>& taps, const PointTexels<V>& weights, int count, const V* gradient,
                        V* sums) {
    constexpr int kAhead = 16;
    PointTexels<V> parts;
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < kPoints; ++i) parts.at[k][i] = gradient[i] * weights.at[k][i];
    }
    for (int i = 0; i < count; ++i) {
      const int next = std::min(i + kAhead, kPoints - 1);
      __builtin_prefetch(sums + taps.at[0][next], 1);
      __builtin_prefetch(sums + taps.at[2][next], 1);
      for (int k = 0; k < 4; ++k) sums[taps.at[k][i]] += parts.at[k][i];
    }
  }

  const SampleArgs& args_;
  const SampleGradients& gradients_;
  const LevelRange range_;
};

// As write_patch().
template <class V>
void write_centers(const SampleArgs& args, const SampleGradients& gradients, int b, int first, int count, const V* x,
                   const V* y) {
  const auto write = [&]<class N>(N* out) {
    for (int i = 0; i < count; ++i) {
      out[2 * i] = static_cast<N>(x[i] * static_cast<V>(args.level[0].width));
      out[2 * i + 1] = static_cast<N>(y[i] * static_cast<V>(args.level[0].height));
    }
  };
  const std::int64_t at = 2 * (std::int64_t{b} * args.count + first);
  if (args.coordinates == Dtype::kF64) return write(static_cast<double*>(gradients.centers) + at);
  write(static_cast<float*>(gradients.centers) + at);
}

// The gradients of a block's places.
template <class T>
void run_places(const SampleArgs& args, const SampleGradients& gradients, int b, int first, int count) {
  using V = Value<T>;
  const PointBlock<V> block(args, b, first, count);
  const bool same = block.is_last();  // the coarser level is the finer one
  PointTaps<V> taps[2];
  PointTexels<V> texels[2] = {};
  PointSlopes<V> slopes[2];
  V scales[2][kPoints];
  V gradient[kPoints] = {};
  V x[kPoints] = {};
  V y[kPoints] = {};
  V fraction[kPoints] = {};
  V values[2][kPoints];
  for (const Mixed which : {Mixed::kFine, Mixed::kCoarse}) {
    const auto slot = static_cast<int>(which);
    if (slot == 0 || !same) block.make_taps(which, false, &taps[slot]);
    for (int i = 0; i < count; ++i) scales[slot][i] = level_scale<V>(block.level(which, i));
  }
  const int last = same ? 0 : 1;
  for (int c = 0; c < args.channels; ++c) {
    read_gradient(args, b, first, count, c, gradient);
    for (const Mixed which : {Mixed::kFine, Mixed::kCoarse}) {
      const auto slot = static_cast<int>(which);
      if (slot > last) continue;
      block.template fetch<T>(which, b, c, taps[slot], &texels[slot]);
      point_ops<V>().slopes(texels[slot], taps[slot], &slopes[slot]);
      if (gradients.lod != nullptr) point_ops<V>().blend(texels[slot], taps[slot], values[slot]);
    }
    for (int i = 0; i < count; ++i) {
      x[i] += gradient[i] * mix(slopes[0].x[i] * scales[0][i], slopes[last].x[i] * scales[1][i], block.fraction[i]);
      y[i] += gradient[i] * mix(slopes[0].y[i] * scales[0][i], slopes[last].y[i] * scales[1][i], block.fraction[i]);
    }
    if (gradients.lod == nullptr) continue;
    for (int i = 0; i < count; ++i) fraction[i] += gradient[i] * (values[last][i] - values[0][i]);
  }
  if (gradients.lod == nullptr) return write_centers(args, gradients, b, first, count, x, y);
  for (int i = 0; i < count; ++i) {
    PatchSums<V> sums = {};
    const PatchFrame<V> patch = patch_at<V>(args, b, first + i);
    add_slope(&sums, patch, {x[i], y[i]}, {V(0), V(0)}, V(0), V(0), V(0));
    sums.fraction = fraction[i];
    write_patch(args, gradients, patch, sums, b, first + i);
  }
}

}  // namespace

void sample_points_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, int threads) {
  const std::int64_t blocks = (args.count + kPoints - 1) / kPoints;
  by_dtype(args.dtype, [&]<class T>(T) {
    const Spread<Value<T>> spread(args, gradients, range);
    if (spread.any()) {
      const std::int64_t channels = args.channels;
      parallel_for(args.batch * channels, kSamplesForAThread / std::max(1, args.count) + 1, threads,
                   [&](std::int64_t first, std::int64_t last) {
                     while (first < last) {
                       const std::int64_t b = first / channels;
                       const std::int64_t end = std::min(last, (b + 1) * channels);
                       spread.run(static_cast<int>(b), static_cast<int>(first - b * channels),
                                  static_cast<int>(end - b * channels));
                       first = end;
                     }
                   });
    }
    if (gradients.centers == nullptr && gradients.lod == nullptr) return;
    const std::int64_t samples = std::int64_t{kPoints} * std::max(1, args.channels);
    parallel_for(args.batch * blocks, kSamplesForAThread / samples + 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t k = first; k < last; ++k) {
                     const int n = static_cast<int>(k % blocks) * kPoints;
                     run_places<T>(args, gradients, static_cast<int>(k / blocks), n, std::min(kPoints, args.count - n));
                   }
                 });
  });
}

}  // namespace saccade::tensor::cpu
