// IEEE 754 binary16 from and to binary32, as bits. Every not-a-number becomes 0x7fff: CUDA's conversion writes that.
#ifndef SACCADE_SHARED_HALF_H_
#define SACCADE_SHARED_HALF_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

// To nearest, ties to even.
SACCADE_FN uint half_from_float(float value) {
  uint bits = floatBitsToUint(value);
  uint sign = (bits >> 16) & 0x8000u;
  uint magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 65536 and more: infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14 halves are subnormal, 2^-24 apart: adding 0.5 lets the float unit round to that step.
    return sign | (floatBitsToUint(uintBitsToFloat(magnitude) + 0.5f) - 0x3f000000u);
  }
  // A carry may reach infinity, which is right.
  return sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13);
}

// Exact.
SACCADE_FN float float_from_half(uint bits) {
  uint sign = (bits & 0x8000u) << 16;
  uint magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return uintBitsToFloat(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return uintBitsToFloat(sign | ((magnitude << 13) + 0x38000000u));
  float subnormal = float(magnitude) * 5.9604644775390625e-8f;  // 2^-24
  return uintBitsToFloat(sign | floatBitsToUint(subnormal));
}

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_HALF_H_
