// Patches whose axes are the image's: what a sample reads of a row depends on its column alone, and the other way
// round. So a block works out S taps along each axis and each of the two levels once, in shared memory.
#pragma once

#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cuda {

inline constexpr int kMostGridSize = 32;  // S; larger patches take the general way
inline constexpr int kGridThreads = 256;

// Elements from a channel's first to the tap's texels, and what each counts.
template <class V>
struct AxisTap {
  int first, second;
  V weight;     // of the second
  int outside;  // with zeros: bit 0, 1: the first, the second counts nothing
};

template <class V>
struct GridTaps {
  AxisTap<V> x[2][kMostGridSize];  // of the finer, the coarser level
  AxisTap<V> y[2][kMostGridSize];
  PatchFrame<V> patch;
};

template <class V>
__device__ __forceinline__ AxisTap<V> axis_tap(V position_px, int level, int extent, int stride, const AxisRead& read) {
  const Tap<V> tap = make_tap(position_px, level_scale<V>(level), extent, read);
  return {tap.first * stride, tap.second * stride, tap.weight,
          (tap.first_inside ? 0 : 1) | (tap.second_inside ? 0 : 2)};
}

// Called by the whole block, which waits. `kIndices`: taps are texels' columns and rows, without strides.
template <class V, bool kIndices>
__device__ __forceinline__ void make_grid_taps(const SampleArgs& args, int b, int n, GridTaps<V>* taps) {
  const int thread = static_cast<int>(threadIdx.x);
  const int axis = thread / kMostGridSize;  // 0, 1: x of both levels; 2, 3: y
  const int index = thread % kMostGridSize;
  if (axis < 4) {
    const PatchFrame<V> patch = patch_at<V>(args, b, n);
    if (thread == 0) taps->patch = patch;
    if (index < args.size) {
      const int which = axis % 2;
      const int level = which == 0 ? patch.first : patch.second;
      const LevelArray& array = args.level[level];
      const V offset = sample_offset<V>(index, args.size);
      if (axis < 2) {
        const V place = patch.center_px.x + offset * patch.pitch_px;
        const int stride = kIndices ? 1 : static_cast<int>(array.stride_x);
        taps->x[which][index] = axis_tap(place, level, array.width, stride, read_x_of(args));
      } else {
        const V place = patch.center_px.y + offset * patch.pitch_px;
        const int stride = kIndices ? 1 : static_cast<int>(array.stride_y);
        taps->y[which][index] = axis_tap(place, level, array.height, stride, read_y_of(args));
      }
    }
  }
  __syncthreads();
}

// The four texels that a sample reads of one level.
template <class T>
__device__ __forceinline__ void grid_fetch(const T* channel, const AxisTap<Value<T>>& x, const AxisTap<Value<T>>& y,
                                           Value<T>* texels) {
  texels[0] = load(channel[y.first + x.first]);
  texels[1] = load(channel[y.first + x.second]);
  texels[2] = load(channel[y.second + x.first]);
  texels[3] = load(channel[y.second + x.second]);
  if ((x.outside | y.outside) == 0) return;
  using V = Value<T>;
  if ((x.outside & 1) != 0) texels[0] = texels[2] = V(0);
  if ((x.outside & 2) != 0) texels[1] = texels[3] = V(0);
  if ((y.outside & 1) != 0) texels[0] = texels[1] = V(0);
  if ((y.outside & 2) != 0) texels[2] = texels[3] = V(0);
}

inline bool takes_grid(const SampleArgs& args) {
  if (args.direction.data != nullptr || args.size < 2 || args.size > kMostGridSize) return false;
  return true;
}

}  // namespace saccade::tensor::cuda
