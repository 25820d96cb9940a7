// The tensor operations through the C interface, on the host: sizes that are wrong, and a gradient by hand.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tests/capi/tensors.h"

namespace saccade::test {
namespace {

TEST(Reduce, LevelOfWrongSize_IsRefused) {
  std::vector<float> base(15), half(2);  // 3 x 5: 1 x 2 by floor, 2 x 3 by edge
  const std::array<saccade_array, 2> levels{array_of(base, {1, 1, 3, 5}), array_of(half, {1, 1, 1, 2})};
  EXPECT_EQ(saccade_reduce(&kHost, levels.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0), SACCADE_OK);
  EXPECT_EQ(saccade_reduce(&kHost, levels.data(), 2, SACCADE_ODD_EDGE, nullptr, 0), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_reduce(&kHost, levels.data(), 17, SACCADE_ODD_FLOOR, nullptr, 0), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_reduce(nullptr, levels.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0), SACCADE_ERROR_USAGE);
}

TEST(Reduce, TooSmallWorkspaceOfTheHost_IsRefused) {
  constexpr int kLevels = 8;
  std::array<std::vector<float>, kLevels> data;
  std::array<saccade_array, kLevels> levels{};
  for (std::size_t level = 0; level < kLevels; ++level) {
    const std::int64_t side = 128 >> level;
    data[level].resize(static_cast<std::size_t>(side * side));
    levels[level] = array_of(data[level], {1, 1, side, side});
  }
  const std::size_t bytes = saccade_reduce_workspace_bytes(levels.data(), kLevels);
  ASSERT_GT(bytes, 0U);
  std::vector<std::byte> workspace(bytes);
  const auto reduce = [&](void* memory, std::size_t size) {
    return saccade_reduce(&kHost, levels.data(), kLevels, SACCADE_ODD_FLOOR, memory, size);
  };
  EXPECT_EQ(reduce(workspace.data(), bytes), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(reduce(nullptr, 0), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(reduce(workspace.data(), bytes - 1), SACCADE_ERROR_USAGE);
}

TEST(SampleImageBackward, MiddleOfFourTexels_EachHasAQuarter) {
  OneSample one;
  ASSERT_EQ(one.back(sizeof(float)), SACCADE_OK) << saccade_last_error();
  for (const float texel : one.image) EXPECT_FLOAT_EQ(texel, 2);  // a quarter of 8, by level 0 and level 1 alike
  EXPECT_FLOAT_EQ(one.to_center[0], 8 * 0.5f * 1 * 2);  // half the share, texels rise by 1 to the right, 2 pixels wide
  EXPECT_FLOAT_EQ(one.to_center[1], 8 * 0.5f * 2 * 2);
}

}  // namespace
}  // namespace saccade::test
