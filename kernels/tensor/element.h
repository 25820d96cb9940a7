// Elements of tensors as the number that is computed with, on the host and on the device alike: float for all but f64.
// Stores round once: to nearest, ties to even (half), or to nearest, halves up, within range (integers).
#pragma once

#include <cstdint>

#include "kernels/shared/half.h"
#include "kernels/tensor/array_view.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace saccade::tensor {

// Bits of IEEE 754 binary16, and of bfloat16 (the upper half of a binary32).
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

SACCADE_TENSOR_FN float half_to_float(std::uint16_t half) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(half));
#else
  return shared::float_from_half(half);
#endif
}

SACCADE_TENSOR_FN std::uint16_t float_to_half(float value) {
#if defined(__CUDA_ARCH__)
  return __half_as_ushort(__float2half_rn(value));
#else
  return static_cast<std::uint16_t>(shared::half_from_float(value));
#endif
}

SACCADE_TENSOR_FN std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t word = shared::floatBitsToUint(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;
  return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
}

SACCADE_TENSOR_FN float load(std::uint8_t element) { return static_cast<float>(element); }
SACCADE_TENSOR_FN float load(std::uint16_t element) { return static_cast<float>(element); }
SACCADE_TENSOR_FN float load(Half element) { return half_to_float(element.bits); }
SACCADE_TENSOR_FN float load(Bfloat element) {
  return shared::uintBitsToFloat(static_cast<std::uint32_t>(element.bits) << 16);
}
SACCADE_TENSOR_FN float load(float element) { return element; }
SACCADE_TENSOR_FN double load(double element) { return element; }

// Whether two elements are one in memory: a number that is none, too, differs only when it changes.
SACCADE_TENSOR_FN bool same_bits(std::uint8_t a, std::uint8_t b) { return a == b; }
SACCADE_TENSOR_FN bool same_bits(std::uint16_t a, std::uint16_t b) { return a == b; }
SACCADE_TENSOR_FN bool same_bits(Half a, Half b) { return a.bits == b.bits; }
SACCADE_TENSOR_FN bool same_bits(Bfloat a, Bfloat b) { return a.bits == b.bits; }
SACCADE_TENSOR_FN bool same_bits(float a, float b) { return shared::floatBitsToUint(a) == shared::floatBitsToUint(b); }
SACCADE_TENSOR_FN bool same_bits(double a, double b) {
  std::uint64_t words[2];
  __builtin_memcpy(words, &a, 8);
  __builtin_memcpy(words + 1, &b, 8);
  return words[0] == words[1];
}

template <class Value>
SACCADE_TENSOR_FN Value within(Value value, Value most) {
  if (!(value > Value(0))) return Value(0);  // not a number, too
  return value < most ? value : most;
}

template <class Value>
SACCADE_TENSOR_FN void store(Value value, std::uint8_t* out) {
  *out = static_cast<std::uint8_t>(within(value + Value(0.5), Value(255)));
}
template <class Value>
SACCADE_TENSOR_FN void store(Value value, std::uint16_t* out) {
  *out = static_cast<std::uint16_t>(within(value + Value(0.5), Value(65535)));
}
template <class Value>
SACCADE_TENSOR_FN void store(Value value, Half* out) {
  out->bits = float_to_half(static_cast<float>(value));
}
template <class Value>
SACCADE_TENSOR_FN void store(Value value, Bfloat* out) {
  out->bits = float_to_bfloat(static_cast<float>(value));
}
template <class Value>
SACCADE_TENSOR_FN void store(Value value, float* out) {
  *out = static_cast<float>(value);
}
template <class Value>
SACCADE_TENSOR_FN void store(Value value, double* out) {
  *out = static_cast<double>(value);
}

// The number that elements of T are computed with.
template <class T>
struct ValueOf {
  using type = float;
};
template <>
struct ValueOf<double> {
  using type = double;
};
template <class T>
using Value = typename ValueOf<T>::type;

template <class V>
SACCADE_TENSOR_FN V load_as(const void* data, Dtype dtype, std::int64_t index) {
  switch (dtype) {
    case Dtype::kU8:
      return static_cast<V>(load(static_cast<const std::uint8_t*>(data)[index]));
    case Dtype::kU16:
      return static_cast<V>(load(static_cast<const std::uint16_t*>(data)[index]));
    case Dtype::kF16:
      return static_cast<V>(load(static_cast<const Half*>(data)[index]));
    case Dtype::kBf16:
      return static_cast<V>(load(static_cast<const Bfloat*>(data)[index]));
    case Dtype::kF32:
      return static_cast<V>(static_cast<const float*>(data)[index]);
    case Dtype::kF64:
      return static_cast<V>(static_cast<const double*>(data)[index]);
  }
  return V(0);
}

template <class V>
SACCADE_TENSOR_FN void store_as(V value, void* data, Dtype dtype, std::int64_t index) {
  switch (dtype) {
    case Dtype::kU8:
      return store(value, static_cast<std::uint8_t*>(data) + index);
    case Dtype::kU16:
      return store(value, static_cast<std::uint16_t*>(data) + index);
    case Dtype::kF16:
      return store(value, static_cast<Half*>(data) + index);
    case Dtype::kBf16:
      return store(value, static_cast<Bfloat*>(data) + index);
    case Dtype::kF32:
      return store(value, static_cast<float*>(data) + index);
    case Dtype::kF64:
      return store(value, static_cast<double*>(data) + index);
  }
}

}  // namespace saccade::tensor
