// Levels on the host, as Note [Tensor levels] defines them, for reduce() and update() alike: up to six from a part of
// level 0, whose rows then lie in the processor's cache; those above from what level 6 carried.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/tensor/cpu/parallel.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cpu {

inline constexpr int kFineLevels = 6;
inline constexpr int kPartHeight = 1 << kFineLevels;
inline constexpr int kPartWidth = 32 * kPartHeight;
inline constexpr std::int64_t kTexelsForAThread = 1 << 16;

// Memory of the calling thread, kept for its next call. `Use`: who uses it.
template <class Use, class T>
T* scratch(std::size_t count) {
  thread_local std::vector<T> kept;
  if (kept.size() < count) kept.resize(count);
  return kept.data();
}

template <class T>
T* plane_of(const ArrayView& view, std::int64_t number) {
  const std::int64_t b = number / view.channels;
  const std::int64_t c = number % view.channels;
  return static_cast<T*>(view.data) + b * view.stride_b + c * view.stride_c;
}

// A rectangle of level 0 that may reach beyond its edge. Sizes are multiples of 2^l, l the last level that is made of
// it, and at most kPartWidth x kPartHeight.
struct Part {
  int x, y, width, height;
};

// A row of a level from (x, y) on: what lies beyond the edge is not stored.
template <class T>
class StoredRow {
 public:
  StoredRow(const ArrayView& out, T* plane, int x, int y, int width)
      : stride_(out.stride_x), count_(y < out.height ? std::clamp(out.width - x, 0, width) : 0) {
    if (count_ > 0) to_ = plane + y * out.stride_y + x * out.stride_x;
    in_place_ = stride_ == 1 && count_ == width;
  }
  // Where the row's texels are made: in the level itself, or in a row of memory.
  T* texels(T* row) const { return in_place_ ? to_ : row; }
  void store(const T* row) const {
    for (int x = 0; !in_place_ && x < count_; ++x) to_[x * stride_] = row[x];
  }

 private:
  T* to_ = nullptr;
  std::int64_t stride_;
  int count_;
  bool in_place_;
};

// From texels of level 0, or from what was carried.
template <class T, class In>
CarryOf<T> carry_in(In element) {
  if constexpr (std::is_same_v<T, In>) {
    return carry<T>(element);
  } else {
    return element;
  }
}

template <class T, class In>
void join_rows(const In* __restrict top, const In* __restrict bottom, int width, int level,
               CarryOf<T>* __restrict carried, T* __restrict stored) {
  for (int x = 0; x < width; ++x) {
    carried[x] = join<T>(carry_in<T, In>(top[2 * x]), carry_in<T, In>(top[2 * x + 1]), carry_in<T, In>(bottom[2 * x]),
                         carry_in<T, In>(bottom[2 * x + 1]), level, stored + x);
  }
}

// A row of level 1 from column x0 on, of the two rows of level 0 below it.
template <class T>
void join_base(const ArrayView& base, const T* plane, int x0, int row, int width, CarryOf<T>* carried, T* stored) {
  const T* top = plane + std::min(2 * row, base.height - 1) * base.stride_y;
  const T* bottom = plane + std::min(2 * row + 1, base.height - 1) * base.stride_y;
  const int whole = base.stride_x == 1 ? std::clamp((base.width - 2 * x0) / 2, 0, width) : 0;
  if (whole > 0) join_rows<T, T>(top + 2 * x0, bottom + 2 * x0, whole, 1, carried, stored);
  for (int x = whole; x < width; ++x) {
    const std::int64_t left = std::min(2 * (x0 + x), base.width - 1) * base.stride_x;
    const std::int64_t right = std::min(2 * (x0 + x) + 1, base.width - 1) * base.stride_x;
    carried[x] = join<T>(carry<T>(top[left]), carry<T>(top[right]), carry<T>(bottom[left]), carry<T>(bottom[right]), 1,
                         stored + x);
  }
}

// What level 6 carried, of all planes: one more column and row for what lies wholly beyond the edge.
template <class T>
struct Carried {
  CarryOf<T>* texels = nullptr;  // null: there are no levels above it
  int width = 0, height = 0;

  Carried() = default;
  Carried(const ArrayView& base, CarryOf<T>* data)
      : texels(data),
        width((base.width + kPartHeight - 1) / kPartHeight + 1),
        height((base.height + kPartHeight - 1) / kPartHeight + 1) {}
  CarryOf<T>* plane(std::int64_t number) const { return texels + number * width * height; }
};

// Two rows of each level of a part, those that the next level is made of.
template <class T>
struct PartRows {
  CarryOf<T> texels[2 * kPartWidth];

  CarryOf<T>* row(int level, int number) {
    const int before = 2 * (kPartWidth - (2 * kPartWidth >> level));  // of the levels below
    return texels + before + number % 2 * (kPartWidth >> level);
  }
};

// Makes levels 1 to 6, or fewer, of a part: a row of a level as soon as there are two of the level below it.
template <class T>
void fine_levels(const ReduceArgs& args, std::int64_t number, const Part& part, const Carried<T>& carried) {
  PartRows<T> rows;
  T made[kPartWidth / 2];
  const T* base = plane_of<const T>(args.level[0], number);
  const int last = std::min(args.levels - 1, kFineLevels);
  for (int j = 0; j < part.height / 2; ++j) {
    for (int level = 1; level <= last && (j + 1) % (1 << (level - 1)) == 0; ++level) {
      const ArrayView& out = args.level[level];
      const int y = j >> (level - 1);
      const int width = part.width >> level;
      const StoredRow<T> stored(out, plane_of<T>(out, number), part.x >> level, (part.y >> level) + y, width);
      CarryOf<T>* next = rows.row(level, y);
      if (level == 1) {
        join_base<T>(args.level[0], base, part.x / 2, part.y / 2 + y, width, next, stored.texels(made));
      } else {
        join_rows<T, CarryOf<T>>(rows.row(level - 1, 0), rows.row(level - 1, 1), width, level, next,
                                 stored.texels(made));
      }
      stored.store(made);
    }
  }
  if (carried.texels == nullptr) return;
  const CarryOf<T>* row = rows.row(kFineLevels, 0);
  std::copy(row, row + (part.width >> kFineLevels),
            carried.plane(number) + (part.y >> kFineLevels) * carried.width + (part.x >> kFineLevels));
}

// Makes the levels above 6 of a plane from what was carried: at most a 4000th of the image's texels.
template <class T>
void coarse_levels(const ReduceArgs& args, std::int64_t number, const Carried<T>& carried) {
  using Sum = WideOf<T>;
  struct Use;
  const auto half = [](int texels) { return (texels + 1) / 2 + 1; };
  const std::size_t room =
      static_cast<std::size_t>(half(carried.width)) * static_cast<std::size_t>(half(carried.height));
  Sum* const rooms[2] = {scratch<Use, Sum>(2 * room), scratch<Use, Sum>(2 * room) + room};
  int below_width = carried.width;
  int below_height = carried.height;
  for (int level = kFineLevels + 1; level < args.levels; ++level) {
    const ArrayView& out = args.level[level];
    T* plane = plane_of<T>(out, number);
    const int width = half(below_width);
    const int height = half(below_height);
    const auto texel = [&](int x, int y) {
      const std::int64_t at = std::int64_t{std::min(y, below_height - 1)} * below_width + std::min(x, below_width - 1);
      return level == kFineLevels + 1 ? static_cast<Sum>(carried.plane(number)[at]) : rooms[level % 2][at];
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        T stored;
        rooms[1 - level % 2][static_cast<std::int64_t>(y) * width + x] =
            join_as<T, Sum>(texel(2 * x, 2 * y), texel(2 * x + 1, 2 * y), texel(2 * x, 2 * y + 1),
                            texel(2 * x + 1, 2 * y + 1), level, &stored);
        if (x < out.width && y < out.height) plane[y * out.stride_y + x * out.stride_x] = stored;
      }
    }
    below_width = width;
    below_height = height;
  }
}

// Where level 6 is carried to: the caller's workspace or, without one, the thread's.
template <class T>
Carried<T> carried_of(const ReduceArgs& args) {
  if (args.levels - 1 <= kFineLevels) return {};
  struct Use;
  void* own = args.workspace;
  if (own == nullptr) own = scratch<Use, CarryOf<T>>(reduce_workspace_bytes(args) / sizeof(CarryOf<T>));
  return {args.level[0], static_cast<CarryOf<T>*>(own)};
}

// All levels of planes first..last.
template <class T>
void make_levels(const ReduceArgs& args, std::int64_t first, std::int64_t last, int threads) {
  const ArrayView& base = args.level[0];
  const Carried<T> carried = carried_of<T>(args);
  const int unit = 1 << std::min(args.levels - 1, kFineLevels);
  const auto reach = [&](int texels, int blocks) {
    return carried.texels != nullptr ? blocks * unit : (texels + unit - 1) / unit * unit;
  };
  const int width = reach(base.width, carried.width);
  const int height = reach(base.height, carried.height);
  const std::int64_t rows = (height + kPartHeight - 1) / kPartHeight;
  parallel_for((last - first) * rows, kTexelsForAThread / kPartHeight / std::max(1, width) + 1, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t k = begin; k < end; ++k) {
                   const int y = static_cast<int>(k % rows) * kPartHeight;
                   for (int x = 0; x < width; x += kPartWidth) {
                     const Part part{x, y, std::min(kPartWidth, width - x), std::min(kPartHeight, height - y)};
                     fine_levels<T>(args, first + k / rows, part, carried);
                   }
                 }
               });
  if (carried.texels == nullptr) return;
  for (std::int64_t number = first; number < last; ++number) coarse_levels<T>(args, number, carried);
}

}  // namespace saccade::tensor::cpu
