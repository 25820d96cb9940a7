#include "kernels/picture/samples.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace saccade {
namespace {

// IEEE 754 binary16, exactly.
float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t rebased = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | rebased << 23 | mantissa << 13);
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float load_sample(const std::byte* base, std::size_t i, SampleType type) {
  switch (type) {
    case SampleType::kU8:
      return static_cast<float>(base[i]);
    case SampleType::kF16:
      return half_to_float(load<std::uint16_t>(base + 2 * i));
    case SampleType::kF32:
      return load<float>(base + 4 * i);
  }
  return 0;
}

}  // namespace

void to_codes(std::span<const std::byte> samples, int patch_size, const SampleFormat& format, std::vector<float>& out) {
  const auto plane = static_cast<std::size_t>(patch_size) * static_cast<std::size_t>(patch_size);
  out.resize(samples.size() / size_bytes(format.type));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float value = load_sample(samples.data(), i, format.type);
    const std::size_t channel = i / plane % 3;
    out[i] = format.type == SampleType::kU8 ? value : (value / format.inv_std[channel] + format.mean[channel]) * 255.0f;
  }
}

}  // namespace saccade
