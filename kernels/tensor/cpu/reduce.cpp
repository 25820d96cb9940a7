// The plain pyramid: every level from the one below, as Note [Tensor levels] defines it.
#include "kernels/tensor/reduce.h"

#include <algorithm>
#include <vector>

#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor {

namespace {

// Texels of the coarsest level that one launch reaches, and one more each way: what lies wholly beyond the edge.
std::size_t carried_texels(const ArrayView& base) {
  const auto extent = [](int size) { return static_cast<std::size_t>((size + 63) / 64 + 1); };
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

// What is carried of one plane at one level, with one more row and column for what lies beyond the edge.
template <class T>
struct Carried {
  int width = 0, height = 0;
  std::vector<CarryOf<T>> texels;

  const CarryOf<T>& at(int x, int y) const {
    return texels[static_cast<std::size_t>(std::min(y, height - 1)) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(std::min(x, width - 1))];
  }
};

template <class T>
Carried<T> carry_plane(const ArrayView& base, const T* plane) {
  Carried<T> carried{base.width, base.height, {}};
  carried.texels.reserve(static_cast<std::size_t>(base.width) * static_cast<std::size_t>(base.height));
  for (int y = 0; y < base.height; ++y) {
    for (int x = 0; x < base.width; ++x) carried.texels.push_back(carry(plane[y * base.stride_y + x * base.stride_x]));
  }
  return carried;
}

// Level `level` from `below`; writes what the image has of it.
template <class T>
Carried<T> next_level(const Carried<T>& below, int level, const ArrayView& out, T* plane) {
  Carried<T> next{(below.width + 1) / 2 + 1, (below.height + 1) / 2 + 1, {}};
  next.texels.reserve(static_cast<std::size_t>(next.width) * static_cast<std::size_t>(next.height));
  for (int y = 0; y < next.height; ++y) {
    for (int x = 0; x < next.width; ++x) {
      T stored;
      next.texels.push_back(join<T>(below.at(2 * x, 2 * y), below.at(2 * x + 1, 2 * y), below.at(2 * x, 2 * y + 1),
                                    below.at(2 * x + 1, 2 * y + 1), level, &stored));
      if (x < out.width && y < out.height) plane[y * out.stride_y + x * out.stride_x] = stored;
    }
  }
  return next;
}

template <class T>
void run(const ReduceArgs& args) {
  const ArrayView& base = args.level[0];
  const auto plane_of = [](const ArrayView& view, int b, int c) {
    return static_cast<T*>(view.data) + b * view.stride_b + c * view.stride_c;
  };
  for (int b = 0; b < base.batch; ++b) {
    for (int c = 0; c < base.channels; ++c) {
      Carried<T> below = carry_plane<T>(base, plane_of(base, b, c));
      for (int level = 1; level < args.levels; ++level) {
        const ArrayView& out = args.level[level];
        below = next_level<T>(below, level, out, plane_of(out, b, c));
      }
    }
  }
}

template <class T, class G>
void run_back(const ReduceGradArgs& args) {
  using V = Value<T>;
  const ArrayView& base = args.base;
  for (int b = 0; b < base.batch; ++b) {
    for (int c = 0; c < base.channels; ++c) {
      const std::int64_t plane = static_cast<std::int64_t>(b) * base.channels + c;
      T* out = static_cast<T*>(base.data) + b * base.stride_b + c * base.stride_c;
      for (int y = 0; y < base.height; ++y) {
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
            sum +=
                static_cast<V>(load(static_cast<const G*>(args.level[level])[at])) * (weight * static_cast<V>(share));
          }
          store(sum, out + y * base.stride_y + x * base.stride_x);
        }
      }
    }
  }
}

template <class T>
void run_back(const ReduceGradArgs& args) {
  return args.dtype == args.base.dtype ? run_back<T, T>(args) : run_back<T, Value<T>>(args);
}

}  // namespace

void reduce(const ReduceArgs& args) {
  const ArrayView& base = args.level[0];
  if (base.width == 0 || base.height == 0) return;
  switch (base.dtype) {
    case Dtype::kU8:
      return run<std::uint8_t>(args);
    case Dtype::kU16:
      return run<std::uint16_t>(args);
    case Dtype::kF16:
      return run<Half>(args);
    case Dtype::kBf16:
      return run<Bfloat>(args);
    case Dtype::kF32:
      return run<float>(args);
    case Dtype::kF64:
      return run<double>(args);
  }
}

void reduce_backward(const ReduceGradArgs& args) {
  switch (args.base.dtype) {
    case Dtype::kF16:
      return run_back<Half>(args);
    case Dtype::kBf16:
      return run_back<Bfloat>(args);
    case Dtype::kF32:
      return run_back<float>(args);
    case Dtype::kF64:
      return run_back<double>(args);
    case Dtype::kU8:
    case Dtype::kU16:
      return;
  }
}

}  // namespace cpu
}  // namespace saccade::tensor
