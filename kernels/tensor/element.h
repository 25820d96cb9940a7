// Elements of tensors as the number that is computed with, on the host and on the device alike: float for all but f64.
// Stores round once: to nearest, ties to even (half), or to nearest, halves up, within range (integers).
#pragma once

#include <cstdint>

#include "kernels/tensor/array_view.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include <bit>
#endif

namespace saccade::tensor {

// Bits of IEEE 754 binary16, and of bfloat16 (the upper half of a binary32).
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

namespace bits {

SACCADE_TENSOR_FN std::uint32_t of_float(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#elif defined(__CUDACC__)
  std::uint32_t word;
  __builtin_memcpy(&word, &value, 4);
  return word;
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

SACCADE_TENSOR_FN float to_float(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(word);
#elif defined(__CUDACC__)
  float value;
  __builtin_memcpy(&value, &word, 4);
  return value;
#else
  return std::bit_cast<float>(word);
#endif
}

}  // namespace bits

SACCADE_TENSOR_FN float half_to_float(std::uint16_t half) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(half));
#else
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  if (magnitude >= 0x7c00U) return bits::to_float(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  if (magnitude >= 0x0400U) return bits::to_float(sign | ((magnitude << 13) + 0x38000000U));
  const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
  return bits::to_float(sign | bits::of_float(subnormal));
#endif
}

SACCADE_TENSOR_FN std::uint16_t float_to_half(float value) {
#if defined(__CUDA_ARCH__)
  return __half_as_ushort(__float2half_rn(value));
#else
  const std::uint32_t word = bits::of_float(value);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  const std::uint32_t magnitude = word & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7fffU;  // not a number, as the device writes it
    return static_cast<std::uint16_t>(half);
  }
  if (magnitude >= 0x47800000U) {
    half = 0x7c00U;  // 65536 and more: infinity
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 halves are subnormal, 2^-24 apart: adding 0.5 lets the float unit round to that step.
    half = bits::of_float(bits::to_float(magnitude) + 0.5f) - 0x3f000000U;
  } else {
    half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;  // a carry may reach infinity
  }
  return static_cast<std::uint16_t>(sign | half);
#endif
}

SACCADE_TENSOR_FN std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t word = bits::of_float(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;
  return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
}

SACCADE_TENSOR_FN float load(std::uint8_t element) { return static_cast<float>(element); }
SACCADE_TENSOR_FN float load(std::uint16_t element) { return static_cast<float>(element); }
SACCADE_TENSOR_FN float load(Half element) { return half_to_float(element.bits); }
SACCADE_TENSOR_FN float load(Bfloat element) { return bits::to_float(static_cast<std::uint32_t>(element.bits) << 16); }
SACCADE_TENSOR_FN float load(float element) { return element; }
SACCADE_TENSOR_FN double load(double element) { return element; }

// Whether two elements are one in memory: a number that is none, too, differs only when it changes.
SACCADE_TENSOR_FN bool same_bits(std::uint8_t a, std::uint8_t b) { return a == b; }
SACCADE_TENSOR_FN bool same_bits(std::uint16_t a, std::uint16_t b) { return a == b; }
SACCADE_TENSOR_FN bool same_bits(Half a, Half b) { return a.bits == b.bits; }
SACCADE_TENSOR_FN bool same_bits(Bfloat a, Bfloat b) { return a.bits == b.bits; }
SACCADE_TENSOR_FN bool same_bits(float a, float b) { return bits::of_float(a) == bits::of_float(b); }
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
