// The pyramid on the host, and its gradient.
#include "kernels/tensor/reduce.h"

#include <algorithm>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/levels.h"

namespace saccade::tensor {

namespace {

// Texels of the coarsest level that one launch reaches, and one more each way: what lies wholly beyond the edge.
constexpr std::size_t carried(int size) { return (static_cast<std::size_t>(size) + 63) / 64 + 1; }

}  // namespace

std::size_t reduce_workspace_bytes(const ReduceArgs& args) {
  if (args.levels <= 7) return 0;
  const ArrayView& base = args.level[0];
  const bool wide = base.dtype == Dtype::kU16 || base.dtype == Dtype::kF64;
  const std::size_t width = carried(base.width);
  const std::size_t height = carried(base.height);
  std::size_t texels = width * height;
  if (args.levels > 13) texels += carried(static_cast<int>(width)) * carried(static_cast<int>(height));
  return static_cast<std::size_t>(base.batch) * static_cast<std::size_t>(base.channels) * texels * (wide ? 8 : 4);
}

namespace cpu {
namespace {

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
  const std::int64_t planes = static_cast<std::int64_t>(base.batch) * base.channels;
  by_dtype(base.dtype, [&]<class T>(T) { make_levels<T>(args, 0, planes, threads); });
}

void reduce_backward(const ReduceGradArgs& args, int threads) {
  if (args.base.width == 0 || args.base.height == 0) return;
  by_floating_dtype(args.base.dtype, [&]<class T>(T) { run_back<T>(args, threads); });
}

}  // namespace cpu
}  // namespace saccade::tensor
