// What a launch over levels reads and writes, and how that follows from the caller's arrays.
#pragma once

#include "kernels/tensor/cuda/grid_limits.cuh"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kTile = 64;
inline constexpr int kLevelsAtOnce = 6;

// Quads of a thread, side by side.
template <class In>
constexpr int kQuads = sizeof(In) == 1   ? 4
                       : sizeof(In) == 2 ? 2
                                         : 1;

template <class T>
struct OutLevel {
  T* data;
  std::int64_t stride_b, stride_c;
  int stride_y, stride_x;
  int width, height;
  int together;  // so many texels of a row may be stored at once: 8, 4, 2 or 1
};

// What a launch reads, level 0 or what an earlier one carried, and what it writes.
template <class T, class In>
struct PassArgs {
  const In* in;
  std::int64_t in_b, in_c;
  int in_y, in_x;
  int in_width, in_height;
  int together;  // so many elements of a row may be loaded at once: 16 to 1
  bool dense;    // everywhere stride_c leads on from one batch to the next
  int channels;
  unsigned planes;  // B * C
  int below;        // the level that is read
  int count;        // levels that are written
  OutLevel<T> out[kLevelsAtOnce];
  CarryOf<T>* carried;  // [planes, carried_height, carried_width], or null
  int carried_width, carried_height;
  int first_col, first_row;  // of blocks: where the grid begins
};

template <class T, class In>
__device__ __forceinline__ int block_col(const PassArgs<T, In>& args) {
  return static_cast<int>(blockIdx.x) + args.first_col;
}
template <class T, class In>
__device__ __forceinline__ int block_row(const PassArgs<T, In>& args) {
  return static_cast<int>(blockIdx.y) + args.first_row;
}

// 8, 4, 2 or 1 elements that may be read or written at once anywhere in the array.
inline int together_in(const ArrayView& view, int most) {
  if (view.stride_x != 1) return 1;
  int count = most;
  const auto at = reinterpret_cast<std::uintptr_t>(view.data);
  while (count > 1 && (view.stride_y % count != 0 || view.stride_c % count != 0 || view.stride_b % count != 0 ||
                       at % (static_cast<std::size_t>(count) * element_bytes(view.dtype)) != 0)) {
    count /= 2;
  }
  return count;
}

// Whether what a thread reads and writes of rows can be moved at once, all of it or, beyond the edge, nothing: the
// common case, without the code of any other.
template <class T, class In>
bool is_whole(const PassArgs<T, In>& args, int quads) {
  bool whole = args.dense && args.together >= 4 * quads && args.in_width % (4 * quads) == 0;
  for (int k = 0; k < args.count; ++k) {
    const int texels = 4 * quads >> (k + 1);  // of the level, that a thread writes at once
    whole = whole && (texels < 2 || (args.out[k].together >= texels && args.out[k].width % texels == 0));
  }
  return whole;
}

template <class T>
OutLevel<T> out_level(const ArrayView& view) {
  OutLevel<T> out;
  out.data = static_cast<T*>(view.data);
  out.stride_b = view.stride_b;
  out.stride_c = view.stride_c;
  out.stride_y = static_cast<int>(view.stride_y);
  out.stride_x = static_cast<int>(view.stride_x);
  out.width = view.width;
  out.height = view.height;
  out.together = together_in(view, 8);
  return out;
}

inline bool is_dense(const ArrayView& view) {
  return view.batch == 1 || view.stride_b == static_cast<std::int64_t>(view.channels) * view.stride_c;
}

// What is written: the levels after `below`.
template <class T, class In>
void set_levels(const ReduceArgs& reduce, int below, PassArgs<T, In>* args) {
  const ArrayView& base = reduce.level[0];
  args->channels = base.channels;
  args->planes = static_cast<unsigned>(base.batch) * static_cast<unsigned>(base.channels);
  args->below = below;
  args->count = reduce.levels - 1 - below < kLevelsAtOnce ? reduce.levels - 1 - below : kLevelsAtOnce;
  args->dense = below > 0 || is_dense(base);
  for (int k = 0; k < args->count; ++k) {
    args->out[k] = out_level<T>(reduce.level[below + 1 + k]);
    args->dense = args->dense && is_dense(reduce.level[below + 1 + k]);
  }
}

// The first pass, which reads level 0 and, beyond level 6, leaves what it carried in the workspace.
template <class T>
PassArgs<T, T> first_pass(const ReduceArgs& reduce) {
  const ArrayView& base = reduce.level[0];
  PassArgs<T, T> args = {};
  args.in = static_cast<const T*>(base.data);
  args.in_b = base.stride_b;
  args.in_c = base.stride_c;
  args.in_y = static_cast<int>(base.stride_y);
  args.in_x = static_cast<int>(base.stride_x);
  args.in_width = base.width;
  args.in_height = base.height;
  args.together = together_in(base, 16);
  if (reduce.levels - 1 > kLevelsAtOnce) {
    args.carried = static_cast<CarryOf<T>*>(reduce.workspace);
    args.carried_width = (base.width + kTile - 1) / kTile + 1;
    args.carried_height = (base.height + kTile - 1) / kTile + 1;
  }
  set_levels(reduce, 0, &args);
  return args;
}

// The second pass, from what the first one carried; beyond level 12 it carries on, too, behind that.
template <class T>
PassArgs<T, CarryOf<T>> second_pass(const ReduceArgs& reduce, const PassArgs<T, T>& first) {
  PassArgs<T, CarryOf<T>> args = {};
  args.in = first.carried;
  args.in_x = 1;
  args.together = 1;
  args.in_y = first.carried_width;
  args.in_c = static_cast<std::int64_t>(args.in_y) * first.carried_height;
  args.in_b = args.in_c * reduce.level[0].channels;
  args.in_width = first.carried_width;
  args.in_height = first.carried_height;
  if (reduce.levels - 1 > 2 * kLevelsAtOnce) {
    args.carried = first.carried + args.in_b * reduce.level[0].batch;
    args.carried_width = (args.in_width + kTile - 1) / kTile + 1;
    args.carried_height = (args.in_height + kTile - 1) / kTile + 1;
  }
  set_levels(reduce, kLevelsAtOnce, &args);
  return args;
}

}  // namespace saccade::tensor::cuda
