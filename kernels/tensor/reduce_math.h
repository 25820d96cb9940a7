// How four texels become one, for host and device: see Note [Tensor levels] in reduce.h.
#pragma once

#include <type_traits>

#include "kernels/tensor/element.h"

namespace saccade::tensor {

// What is carried from level to level: sums of level 0 for integers, values as they were stored for floating numbers.
template <class T>
struct Carry {
  using type = Value<T>;
  static constexpr bool kSums = false;
};
template <>
struct Carry<std::uint8_t> {
  using type = std::uint32_t;  // 255 * 4^12 fits
  static constexpr bool kSums = true;
};
template <>
struct Carry<std::uint16_t> {
  using type = std::uint64_t;
  static constexpr bool kSums = true;
};
template <class T>
using CarryOf = typename Carry<T>::type;

template <class T>
SACCADE_TENSOR_FN CarryOf<T> carry(T element) {
  if constexpr (Carry<T>::kSums) {
    return element;
  } else {
    return load(element);
  }
}

// The same with room for the sums of any level: those of bytes outgrow 32 bits above level 12.
template <class T>
using WideOf = std::conditional_t<Carry<T>::kSums, std::uint64_t, CarryOf<T>>;

// Four texels of the level below -> what is carried on and what is stored, at level `level` >= 1.
template <class T, class C>
SACCADE_TENSOR_FN C join_as(C a, C b, C c, C d, int level, T* stored) {
  const C sum = ((a + b) + c) + d;
  if constexpr (Carry<T>::kSums) {
    *stored = static_cast<T>((sum + (C(1) << (2 * level - 1))) >> (2 * level));
    return sum;
  } else {
    store(sum * C(0.25), stored);
    return load(*stored);
  }
}
template <class T>
SACCADE_TENSOR_FN CarryOf<T> join(CarryOf<T> a, CarryOf<T> b, CarryOf<T> c, CarryOf<T> d, int level, T* stored) {
  return join_as<T, CarryOf<T>>(a, b, c, d, level, stored);
}

// How much of level-0 texel `at` is in the texel of level `level` above it, along one axis: 1, or the number of times
// that the edge is repeated in there; 0 where that level does not have it.
SACCADE_TENSOR_FN int share_of(int at, int extent, int level, OddSizes odd) {
  const int above = at >> level;
  if (odd == OddSizes::kFloor) return above < (extent >> level) ? 1 : 0;
  return at + 1 < extent ? 1 : ((above + 1) << level) - at;
}

}  // namespace saccade::tensor
