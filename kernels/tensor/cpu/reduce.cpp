// The pyramid on the host.
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

void reduce(const ReduceArgs& args, int threads) {
  const ArrayView& base = args.level[0];
  if (args.levels < 2 || base.width == 0 || base.height == 0) return;
  const std::int64_t planes = static_cast<std::int64_t>(base.batch) * base.channels;
  by_dtype(base.dtype, [&]<class T>(T) { make_levels<T>(args, 0, planes, threads); });
}

}  // namespace cpu
}  // namespace saccade::tensor
