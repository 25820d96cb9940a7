// Single points of a sampling, forward and backward, a block of them at once. What a point reads or changes is worked
// out once for all channels.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/tensor/cpu/point_ops.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cpu {

template <class V>
const PointOps<V>& point_ops() {
  static const PointOps<V> ops = std::get<PointOps<V>>(simd_point_ops());
  return ops;
}

// Whether the samples are points along the image's axes, of levels in which 32 bits count the texels.
inline bool are_points(const SampleArgs& args) {
  if (args.size != 1 || args.direction.data != nullptr) return false;
  return std::all_of(args.level, args.level + args.levels, [](const LevelArray& level) {
    return level.width <= kMostTexelsOfAxis && level.height <= kMostTexelsOfAxis &&
           std::int64_t{level.width} * level.height <= std::numeric_limits<std::int32_t>::max();
  });
}

// One of the two levels that a point mixes.
enum class Mixed { kFine, kCoarse };

// Points first to first + count of image b; places beyond them are 0.
template <class V>
class PointBlock {
 public:
  PointBlock(const SampleArgs& args, int b, int first, int count) : args_(args), count_(count) {
    std::fill(x_px_ + count, x_px_ + kPoints, V(0));
    std::fill(y_px_ + count, y_px_ + kPoints, V(0));
    std::fill(fraction + count, fraction + kPoints, V(0));
    args.coordinates == Dtype::kF64 ? read<double>(b, first) : read<float>(b, first);
  }

  int count() const { return count_; }
  int level(Mixed which, int i) const { return level_of(which, fine_[i]); }
  // Whether all points have the same finer level.
  bool is_even() const { return lowest_ == highest_; }
  // Whether that is the last one, which then is the coarser, too.
  bool is_last() const { return lowest_ == args_.levels - 1; }

  // Of the levels as they lie or, to be written, without gaps.
  void make_taps(Mixed which, bool dense, PointTaps<V>* taps) const {
    point_ops<V>().taps(x_px_, y_px_, grid(level_of(which, lowest_), dense), taps);
    for (int fine = lowest_ + 1; fine <= highest_; ++fine) {
      PointTaps<V> others;
      point_ops<V>().taps(x_px_, y_px_, grid(level_of(which, fine), dense), &others);
      for (int i = 0; i < count_; ++i) {
        if (fine_[i] != fine) continue;
        taps->wx[i] = others.wx[i];
        taps->wy[i] = others.wy[i];
        for (int k = 0; k < 4; ++k) {
          taps->at[k][i] = others.at[k][i];
          taps->inside[k][i] = others.inside[k][i];
        }
      }
    }
  }

  template <class T>
  void fetch(Mixed which, int b, int c, const PointTaps<V>& taps, PointTexels<V>* texels) const {
    if (is_even()) {
      const T* channel = channel_of<T>(args_.level[level_of(which, lowest_)], b, c);
      for (int i = 0; i < count_; ++i) {
        for (int k = 0; k < 4; ++k) texels->at[k][i] = load(channel[taps.at[k][i]]);
      }
    } else {
      const T* channels[kMostLevels] = {};
      for (int level = 0; level < args_.levels; ++level) channels[level] = channel_of<T>(args_.level[level], b, c);
      for (int i = 0; i < count_; ++i) {
        const T* channel = channels[level(which, i)];
        for (int k = 0; k < 4; ++k) texels->at[k][i] = load(channel[taps.at[k][i]]);
      }
    }
    if (args_.padding == Padding::kZeros) point_ops<V>().clear_outside(taps, texels);
  }

  V fraction[kPoints];
  bool mixes = false;  // a fraction is not 0

 private:
  int level_of(Mixed which, int fine) const {
    return which == Mixed::kFine ? fine : std::min(fine + 1, args_.levels - 1);
  }
  template <class N>
  void read(int b, int first) {
    const auto at = [&](const PatchNumbers& numbers) {
      return static_cast<const N*>(numbers.data) + b * numbers.stride_b + first * numbers.stride_n;
    };
    const std::int64_t step = args_.centers.stride_n;
    step == 2 ? read_places(at(args_.centers), std::integral_constant<int, 2>()) : read_places(at(args_.centers), step);
    if (args_.levels == 1) {
      std::fill(fine_, fine_ + count_, 0);
      std::fill(fraction, fraction + count_, V(0));
      return;
    }
    const N* lods = at(args_.lod);
    for (int i = 0; i < count_; ++i) {
      const V lod = clamp_to(static_cast<V>(lods[i * args_.lod.stride_n]), V(0), static_cast<V>(args_.levels - 1));
      fine_[i] = static_cast<int>(lod);
      fraction[i] = lod - static_cast<V>(fine_[i]);
      mixes |= fraction[i] > V(0);
    }
    lowest_ = *std::min_element(fine_, fine_ + count_);
    highest_ = *std::max_element(fine_, fine_ + count_);
  }

  template <class N, class Step>
  void read_places(const N* centers, Step step) {
    const auto width = static_cast<V>(args_.level[0].width);
    const auto height = static_cast<V>(args_.level[0].height);
    for (int i = 0; i < count_; ++i) {
      x_px_[i] = static_cast<V>(centers[i * step]) * width;
      y_px_[i] = static_cast<V>(centers[i * step + 1]) * height;
    }
  }

  PointGrid<V> grid(int level, bool dense) const {
    const LevelArray& array = args_.level[level];
    return {level_scale<V>(level),
            array.width,
            array.height,
            dense ? 1 : static_cast<std::int32_t>(array.stride_x),
            dense ? array.width : static_cast<std::int32_t>(array.stride_y),
            read_x_of(args_),
            read_y_of(args_)};
  }

  const SampleArgs& args_;
  const int count_;
  V x_px_[kPoints], y_px_[kPoints];
  int fine_[kPoints];  // its number of the level, of the finer one
  int lowest_ = 0, highest_ = 0;
};

// As sample() and sample_backward(), where are_points().
void sample_points(const SampleArgs& args, int threads);
void sample_points_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, int threads);

}  // namespace saccade::tensor::cpu
