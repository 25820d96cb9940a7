// The tensor operations through the C interface, on the host: sizes that are wrong, and results by hand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tests/capi/tensors.h"

namespace saccade::test {
namespace {

TEST(Reduce, FourTexels_GiveTheirMean) {
  std::vector<float> base{1, 2, 3, 4, 5, 6, 7, 8};  // 2 x 4
  std::vector<float> half(2);
  const std::array<saccade_array, 2> levels{array_of(base, {1, 1, 2, 4}), array_of(half, {1, 1, 1, 2})};
  ASSERT_EQ(saccade_reduce(&kHost, levels.data(), 2, SACCADE_ODD_FLOOR, nullptr, 0), SACCADE_OK)
      << saccade_last_error();
  EXPECT_FLOAT_EQ(half[0], (1 + 2 + 5 + 6) / 4.0f);
  EXPECT_FLOAT_EQ(half[1], (3 + 4 + 7 + 8) / 4.0f);
}

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

TEST(Sample, BetweenPixels_IsLinear) {
  std::vector<float> base{0, 10, 20, 30};
  std::vector<float> center{0.5f, 0.5f}, lod{0}, patch(1);
  const saccade_array levels = array_of(base, {1, 1, 2, 2});
  const saccade_array centers = array_of(center, {1, 1, 2}), lods = array_of(lod, {1, 1});
  const saccade_array patches = array_of(patch, {1, 1, 1, 1, 1});
  const saccade_sample_options options{sizeof(saccade_sample_options), 1.0f, 0, 1, 1};
  ASSERT_EQ(saccade_sample(&kHost, &levels, 1, &centers, &lods, nullptr, &options, &patches), SACCADE_OK)
      << saccade_last_error();
  EXPECT_FLOAT_EQ(patch[0], 15.0f);
}

TEST(GaussianField, AtDistances_FallsByE) {
  std::vector<float> x{0.5f, 0.5f + std::sqrt(2.0f) * 0.1f}, mean{0.5f}, tril{0.1f}, weight{3}, out(2);
  const saccade_gaussians gaussians{sizeof(saccade_gaussians),
                                    x.data(),
                                    mean.data(),
                                    tril.data(),
                                    weight.data(),
                                    std::numeric_limits<double>::infinity(),
                                    1,
                                    2,
                                    1,
                                    1,
                                    1,
                                    SACCADE_F32};
  ASSERT_EQ(saccade_gaussian_field(&kHost, &gaussians, nullptr, out.data()), SACCADE_OK) << saccade_last_error();
  EXPECT_FLOAT_EQ(out[0], 3.0f);
  EXPECT_NEAR(out[1], 3.0 / std::exp(1.0), 1e-5);
}

TEST(SampleImageBackward, MiddleOfFourTexels_EachHasAQuarter) {
  OneSample one;
  ASSERT_EQ(one.back(sizeof(float)), SACCADE_OK) << saccade_last_error();
  for (const float texel : one.image) EXPECT_FLOAT_EQ(texel, 2);  // a quarter of 8, by level 0 and level 1 alike
  EXPECT_FLOAT_EQ(one.to_center[0], 8 * 0.5f * 1 * 2);  // half the share, texels rise by 1 to the right, 2 pixels wide
  EXPECT_FLOAT_EQ(one.to_center[1], 8 * 0.5f * 2 * 2);
}

TEST(SampleImageBackward, TooFewSums_IsRefused) {
  OneSample one;
  EXPECT_EQ(one.back(sizeof(float) - 1), SACCADE_ERROR_USAGE);
  EXPECT_STREQ(saccade_last_error(), "saccade_sample_image_backward: sums is smaller than the levels' sums");
}

}  // namespace
}  // namespace saccade::test
