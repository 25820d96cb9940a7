// Damage, levels and samples of two textures compared: what differs first is said.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/texture.h"

namespace saccade::test {

inline void expect_same_damage(const Damage& expected, const Damage& actual, const std::string& what) {
  ASSERT_EQ(expected.grid(), actual.grid()) << what;
  EXPECT_EQ(expected.count(), actual.count()) << what;
  EXPECT_TRUE(std::ranges::equal(expected.words(), actual.words())) << what;
  for (int i = 0; i < expected.grid().count(); ++i) {
    ASSERT_EQ(expected.energy()[static_cast<std::size_t>(i)], actual.energy()[static_cast<std::size_t>(i)])
        << what << ": energy of tile " << i % expected.grid().cols << ", " << i / expected.grid().cols;
  }
}

inline void expect_same_levels(const Levels& expected_levels, const Levels& actual_levels, const std::string& what) {
  LevelImage expected;
  LevelImage actual;
  const PyramidLayout& layout = expected_levels.layout();
  for (int p = 0; p < layout.plane_count; ++p) {
    for (int l = 0; l < layout.planes[static_cast<std::size_t>(p)].levels; ++l) {
      expected_levels.read_level(p, l, expected);
      actual_levels.read_level(p, l, actual);
      ASSERT_EQ(expected.width, actual.width) << what;
      ASSERT_EQ(expected.height, actual.height) << what;
      ASSERT_EQ(expected.data.size(), actual.data.size()) << what;
      if (expected.data == actual.data) continue;
      const auto at = std::ranges::mismatch(expected.data, actual.data).in1 - expected.data.begin();
      const int texel_bytes = expected.channels * expected.bytes_per_channel;
      FAIL() << what << ": plane " << p << " level " << l << " differs first at x " << at / texel_bytes % expected.width
             << " y " << at / texel_bytes / expected.width << ": " << int{expected.data[static_cast<std::size_t>(at)]}
             << " against " << int{actual.data[static_cast<std::size_t>(at)]};
    }
  }
}

inline double sample_value(const PatchBatch& batch, std::size_t i) {
  if (batch.format().type == SampleType::kU8) return std::to_integer<int>(batch.bytes()[i]);
  if (batch.format().type == SampleType::kF16) {
    _Float16 half = 0;
    std::memcpy(&half, batch.bytes().data() + i * sizeof(half), sizeof(half));
    return static_cast<double>(half);
  }
  float value = 0;
  std::memcpy(&value, batch.bytes().data() + i * sizeof(value), sizeof(value));
  return static_cast<double>(value);
}

// most: of a difference, in codes for u8 and in values otherwise; of f32 relative where values are larger than 1.
inline void expect_close(const PatchBatch& expected, const PatchBatch& actual, double most, const std::string& what) {
  ASSERT_EQ(expected.bytes().size(), actual.bytes().size()) << what;
  if (most == 0) {
    EXPECT_TRUE(std::ranges::equal(expected.bytes(), actual.bytes())) << what;
    return;
  }
  const std::size_t samples = expected.bytes().size() / size_bytes(expected.format().type);
  const bool relative = expected.format().type == SampleType::kF32;
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double truth = sample_value(expected, i);
    const double difference =
        std::abs(truth - sample_value(actual, i)) / (relative ? std::max(1.0, std::abs(truth)) : 1);
    if (!(difference <= worst)) {
      worst = difference;
      at = i;
    }
  }
  EXPECT_LE(worst, most) << what << ": sample " << at << " of " << samples << ": " << sample_value(expected, at)
                         << " and " << sample_value(actual, at);
}

}  // namespace saccade::test
