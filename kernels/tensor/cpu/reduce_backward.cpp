// The gradient of the pyramid on the host. The sums of the levels above are the same for the four texels below one of
// theirs: they are made once, a row of each level at a time. Where an edge is repeated, texel by texel.
#include <algorithm>
#include <array>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/levels.h"
#include "kernels/tensor/reduce.h"

namespace saccade::tensor::cpu {
namespace {

constexpr std::int64_t kRowsTogether = 64;  // of level 0: what they share is made again for the next

template <class V>
V weight_of(int level) {
  return V(1) / static_cast<V>(std::uint64_t{1} << (2 * level));
}

// Row y of a level's gradient; null where there is none.
template <class G>
const G* gradient_row(const ReduceGradArgs& args, std::int64_t plane, int level, int y) {
  if (args.level[level] == nullptr) return nullptr;
  const std::int64_t width = level_extent(args.base.width, level, args.odd);
  const std::int64_t height = level_extent(args.base.height, level, args.odd);
  return static_cast<const G*>(args.level[level]) + (plane * height + y) * width;
}

// The definition: a texel's share of every level, coarsest first.
template <class T, class G>
void back_texel(const ReduceGradArgs& args, std::int64_t plane, int x, int y) {
  using V = Value<T>;
  const ArrayView& base = args.base;
  V sum = V(0);
  for (int level = args.levels - 1; level >= 0; --level) {
    const int share =
        level == 0 ? 1 : share_of(x, base.width, level, args.odd) * share_of(y, base.height, level, args.odd);
    const G* row = share == 0 ? nullptr : gradient_row<G>(args, plane, level, y >> level);
    if (row != nullptr) sum += static_cast<V>(load(row[x >> level])) * (weight_of<V>(level) * static_cast<V>(share));
  }
  store(sum, plane_of<T>(base, plane) + y * base.stride_y + x * base.stride_x);
}

// out[x] = above[x / 2] + gradient[x] * weight, x < count. `above` has `pairs` texels, and is 0 beyond; the gradient
// may be null.
template <class V, class G>
void add_row(const V* __restrict above, int pairs, const G* __restrict gradient, V weight, int count,
             V* __restrict out) {
  const int whole = std::min(pairs, count / 2);
  if (gradient == nullptr) {
    for (int i = 0; i < whole; ++i) out[2 * i] = out[2 * i + 1] = above[i];
    for (int x = 2 * whole; x < count; ++x) out[x] = x / 2 < pairs ? above[x / 2] : V(0);
    return;
  }
  for (int i = 0; i < whole; ++i) {
    out[2 * i] = above[i] + static_cast<V>(load(gradient[2 * i])) * weight;
    out[2 * i + 1] = above[i] + static_cast<V>(load(gradient[2 * i + 1])) * weight;
  }
  for (int x = 2 * whole; x < count; ++x) {
    out[x] = (x / 2 < pairs ? above[x / 2] : V(0)) + static_cast<V>(load(gradient[x])) * weight;
  }
}

// Columns x0.. of a plane, kPartWidth at most, and the last row made of each level.
template <class T, class G>
class BackPart {
 public:
  using V = Value<T>;

  BackPart(const ReduceGradArgs& args, std::int64_t plane, int x0) : args_(args), plane_(plane), x0_(x0) {
    rows_.fill(-1);
  }

  // Writes row y of level 0 where no edge is repeated.
  void write(int y) {
    const ArrayView& base = args_.base;
    T* out = plane_of<T>(base, plane_) + y * base.stride_y + x0_ * base.stride_x;
    const int count = texels(0, y);
    V* row = sums_;
    if constexpr (std::is_same_v<T, V>) {
      if (base.stride_x == 1) row = out;
    }
    add(0, y, count, row);
    for (int x = 0; row == sums_ && x < count; ++x) store(row[x], out + x * base.stride_x);
  }

 private:
  // How many texels of row y of a level lie here: 0 where the level does not have it.
  int texels(int level, int y) const {
    if (level >= args_.levels || y >= level_extent(args_.base.height, level, args_.odd)) return 0;
    const int width = level_extent(args_.base.width, level, args_.odd) - (x0_ >> level);
    return std::clamp(width, 0, std::max(1, kPartWidth >> level));
  }

  // The sums of a level and those above it.
  const V* sums(int level, int y) {
    V* row = sums_ + 2 * kPartWidth - 2 * (kPartWidth >> level) + level;
    if (rows_[static_cast<std::size_t>(level)] != y) add(level, y, texels(level, y), row);
    rows_[static_cast<std::size_t>(level)] = y;
    return row;
  }

  void add(int level, int y, int count, V* out) {
    const int pairs = texels(level + 1, y / 2);
    const V* above = pairs > 0 ? sums(level + 1, y / 2) : nullptr;
    const G* gradient = gradient_row<G>(args_, plane_, level, y);
    add_row(above, pairs, gradient == nullptr ? nullptr : gradient + (x0_ >> level), weight_of<V>(level), count, out);
  }

  const ReduceGradArgs& args_;
  const std::int64_t plane_;
  const int x0_;
  std::array<int, kMostLevels> rows_;
  V sums_[2 * kPartWidth + kMostLevels];  // of level 0, and of each above it behind that
};

template <class T, class G>
void run_rows(const ReduceGradArgs& args, std::int64_t plane, int first, int last) {
  const ArrayView& base = args.base;
  const bool repeats = args.odd == OddSizes::kEdge;
  for (int x0 = 0; x0 < base.width; x0 += kPartWidth) {
    BackPart<T, G> part(args, plane, x0);
    for (int y = first; y < last; ++y) part.write(y);
  }
  for (int y = first; repeats && y < last; ++y) {
    for (int x = y + 1 < base.height ? base.width - 1 : 0; x < base.width; ++x) back_texel<T, G>(args, plane, x, y);
  }
}

template <class T, class G>
void run(const ReduceGradArgs& args, int threads) {
  const ArrayView& base = args.base;
  const std::int64_t groups = (base.height + kRowsTogether - 1) / kRowsTogether;
  const std::int64_t planes = static_cast<std::int64_t>(base.batch) * base.channels;
  parallel_for(planes * groups, kTexelsForAThread / kRowsTogether / base.width + 1, threads,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t k = first; k < last; ++k) {
                   const auto y = static_cast<int>(k % groups * kRowsTogether);
                   run_rows<T, G>(args, k / groups, y, std::min(y + static_cast<int>(kRowsTogether), base.height));
                 }
               });
}

}  // namespace

void reduce_backward(const ReduceGradArgs& args, int threads) {
  if (args.base.width == 0 || args.base.height == 0) return;
  by_floating_dtype(args.base.dtype, [&]<class T>(T) {
    args.dtype == args.base.dtype ? run<T, T>(args, threads) : run<T, Value<T>>(args, threads);
  });
}

}  // namespace saccade::tensor::cpu
