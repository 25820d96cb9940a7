// The pyramid on the host: every level from the one below, row by row, as Note [Tensor levels] defines it.
#include "kernels/tensor/reduce.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor {

namespace {

// Texels of the coarsest level that one launch reaches, and one more each way: what lies wholly beyond the edge.
std::size_t carried_texels(const ArrayView& base) {
  const auto extent = [](int size) { return (static_cast<std::size_t>(size) + 63) / 64 + 1; };
  return static_cast<std::size_t>(base.batch) * static_cast<std::size_t>(base.channels) * extent(base.width) *
         extent(base.height);
}

}  // namespace

std::size_t reduce_workspace_bytes(const ReduceArgs& args) {
  if (args.levels <= 7) return 0;
  const Dtype dtype = args.level[0].dtype;
  const bool wide = dtype == Dtype::kU16 || dtype == Dtype::kF64;
  return carried_texels(args.level[0]) * (wide ? 8 : 4);
}

namespace cpu {
namespace {

constexpr std::int64_t kTexelsForAThread = 1 << 16;

template <class T>
T* plane_of(const ArrayView& view, std::int64_t number) {
  const std::int64_t b = number / view.channels;
  const std::int64_t c = number % view.channels;
  return static_cast<T*>(view.data) + b * view.stride_b + c * view.stride_c;
}

// A level of one plane as it is read: level 0, or what was carried on of another, with one more row and column for what
// lies beyond the edge.
template <class In>
struct Below {
  const In* texels;
  std::int64_t stride_y, stride_x;
  int width, height;

  const In* row(int y) const { return texels + std::min(y, height - 1) * stride_y; }
};

template <class T, class In>
CarryOf<T> carry_in(In element) {
  if constexpr (std::is_same_v<T, In>) {
    return carry<T>(element);
  } else {
    return element;
  }
}

// One row of the next level. `stored` has room for `width` texels.
template <class T, class In>
void join_rows(const In* __restrict top, const In* __restrict bottom, int width, int level,
               CarryOf<T>* __restrict carried, T* __restrict stored) {
  for (int x = 0; x < width; ++x) {
    carried[x] = join<T>(carry_in<T, In>(top[2 * x]), carry_in<T, In>(top[2 * x + 1]), carry_in<T, In>(bottom[2 * x]),
                         carry_in<T, In>(bottom[2 * x + 1]), level, stored + x);
  }
}

// The next level's rows first..last. `scratch`: a row of T.
template <class T, class In>
void next_rows(const Below<In>& below, int level, const ArrayView& out, T* plane, int width, int first, int last,
               CarryOf<T>* carried, T* scratch) {
  const int whole = below.stride_x == 1 ? std::min(below.width / 2, width) : 0;
  for (int y = first; y < last; ++y) {
    const In* top = below.row(2 * y);
    const In* bottom = below.row(2 * y + 1);
    CarryOf<T>* row = carried + static_cast<std::int64_t>(y) * width;
    join_rows<T, In>(top, bottom, whole, level, row, scratch);
    for (int x = whole; x < width; ++x) {
      const std::int64_t left = std::min(2 * x, below.width - 1) * below.stride_x;
      const std::int64_t right = std::min(2 * x + 1, below.width - 1) * below.stride_x;
      row[x] = join<T>(carry_in<T, In>(top[left]), carry_in<T, In>(top[right]), carry_in<T, In>(bottom[left]),
                       carry_in<T, In>(bottom[right]), level, scratch + x);
    }
    if (y >= out.height) continue;
    T* to = plane + y * out.stride_y;
    for (int x = 0; x < out.width; ++x) to[x * out.stride_x] = scratch[x];
  }
}

template <class T>
struct Level {
  int width = 0, height = 0;
  std::unique_ptr<CarryOf<T>[]> texels;

  Level() = default;
  template <class In>
  explicit Level(const Below<In>& below)
      : width((below.width + 1) / 2 + 1),
        height((below.height + 1) / 2 + 1),
        texels(new CarryOf<T>[static_cast<std::size_t>(width) * static_cast<std::size_t>(height)]) {}
  Below<CarryOf<T>> below() const { return {texels.get(), width, 1, width, height}; }
};

template <class T, class In>
Level<T> next_level(const Below<In>& below, int level, const ArrayView& out, T* plane, int threads) {
  Level<T> next(below);
  parallel_for(next.height, kTexelsForAThread / std::max(1, below.width) + 1, threads,
               [&](std::int64_t first, std::int64_t last) {
                 const std::unique_ptr<T[]> scratch(new T[static_cast<std::size_t>(next.width)]);
                 next_rows<T, In>(below, level, out, plane, next.width, static_cast<int>(first), static_cast<int>(last),
                                  next.texels.get(), scratch.get());
               });
  return next;
}

template <class T>
void reduce_plane(const ReduceArgs& args, std::int64_t number, int threads) {
  const ArrayView& base = args.level[0];
  const Below<T> first{plane_of<const T>(base, number), base.stride_y, base.stride_x, base.width, base.height};
  Level<T> below = next_level<T, T>(first, 1, args.level[1], plane_of<T>(args.level[1], number), threads);
  for (int level = 2; level < args.levels; ++level) {
    const ArrayView& out = args.level[level];
    below = next_level<T, CarryOf<T>>(below.below(), level, out, plane_of<T>(out, number), threads);
  }
}

template <class T>
void run(const ReduceArgs& args, int threads) {
  const ArrayView& base = args.level[0];
  const std::int64_t planes = static_cast<std::int64_t>(base.batch) * base.channels;
  const std::int64_t texels = static_cast<std::int64_t>(base.width) * base.height;
  // whole planes for a thread where there are enough of them, else rows of one plane after the other
  if (planes >= 2 * threads) {
    parallel_for(planes, kTexelsForAThread / std::max<std::int64_t>(1, texels) + 1, threads,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t number = first; number < last; ++number) reduce_plane<T>(args, number, 1);
                 });
  } else {
    for (std::int64_t number = 0; number < planes; ++number) reduce_plane<T>(args, number, threads);
  }
}

template <class T, class G>
void back_row(const ReduceGradArgs& args, std::int64_t plane, int y) {
  using V = Value<T>;
  const ArrayView& base = args.base;
  T* out = plane_of<T>(base, plane) + y * base.stride_y;
  for (int x = 0; x < base.width; ++x) {
    V sum = V(0);
    for (int level = args.levels - 1; level >= 0; --level) {
      if (args.level[level] == nullptr) continue;
      const int share =
          level == 0 ? 1 : share_of(x, base.width, level, args.odd) * share_of(y, base.height, level, args.odd);
      if (share == 0) continue;
      const int width = level_extent(base.width, level, args.odd);
      const int height = level_extent(base.height, level, args.odd);
      const std::int64_t at = (plane * height + (y >> level)) * width + (x >> level);
      const V weight = V(1) / static_cast<V>(std::uint64_t{1} << (2 * level));
      sum += static_cast<V>(load(static_cast<const G*>(args.level[level])[at])) * (weight * static_cast<V>(share));
    }
    store(sum, out + x * base.stride_x);
  }
}

template <class T, class G>
void run_back(const ReduceGradArgs& args, int threads) {
  const ArrayView& base = args.base;
  const std::int64_t rows = static_cast<std::int64_t>(base.batch) * base.channels * base.height;
  parallel_for(rows, kTexelsForAThread / 4 / std::max(1, base.width) + 1, threads,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t row = first; row < last; ++row) {
                   back_row<T, G>(args, row / base.height, static_cast<int>(row % base.height));
                 }
               });
}

template <class T>
void run_back(const ReduceGradArgs& args, int threads) {
  return args.dtype == args.base.dtype ? run_back<T, T>(args, threads) : run_back<T, Value<T>>(args, threads);
}

}  // namespace

void reduce(const ReduceArgs& args, int threads) {
  const ArrayView& base = args.level[0];
  if (args.levels < 2 || base.width == 0 || base.height == 0) return;
  by_dtype(base.dtype, [&]<class T>(T) { run<T>(args, threads); });
}

void reduce_backward(const ReduceGradArgs& args, int threads) {
  if (args.base.width == 0 || args.base.height == 0) return;
  by_floating_dtype(args.base.dtype, [&]<class T>(T) { run_back<T>(args, threads); });
}

}  // namespace cpu
}  // namespace saccade::tensor
