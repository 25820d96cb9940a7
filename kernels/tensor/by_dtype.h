// From an array's dtype at run time to its elements' type.
#pragma once

#include <type_traits>

#include "kernels/tensor/element.h"

namespace saccade::tensor {

// call(T{}) with the type of the elements.
template <class Call>
void by_dtype(Dtype dtype, const Call& call) {
  switch (dtype) {
    case Dtype::kU8:
      return call(std::uint8_t{});
    case Dtype::kU16:
      return call(std::uint16_t{});
    case Dtype::kF16:
      return call(Half{});
    case Dtype::kBf16:
      return call(Bfloat{});
    case Dtype::kF32:
      return call(float{});
    case Dtype::kF64:
      return call(double{});
  }
}

// The same where integers have no meaning: nothing is called.
template <class Call>
void by_floating_dtype(Dtype dtype, const Call& call) {
  by_dtype(dtype, [&]<class T>(T element) {
    if constexpr (!std::is_integral_v<T>) call(element);
  });
}

}  // namespace saccade::tensor
