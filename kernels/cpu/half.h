// IEEE 754 binary32 to binary16, to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace saccade {

inline std::uint16_t half_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U;  // not a number
  } else if (magnitude >= 0x47800000U) {
    half = 0x7c00U;  // 65536 and more: infinity
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 halves are subnormal, 2^-24 apart: adding 0.5 lets the float unit round to that step.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000U;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    half = (magnitude - 0x38000000U + 0xfffU + odd) >> 13;  // a carry may reach infinity: that is right
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace saccade
