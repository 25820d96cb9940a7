// Lattices through the C interface: plans by hand, and settings that make no sense.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/capi/tensors.h"

namespace saccade::test {
namespace {

saccade_lattice_info info_of(const saccade_lattice* lattice) {
  saccade_lattice_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(saccade_lattice_get_info(lattice, &info), SACCADE_OK) << saccade_last_error();
  return info;
}

TEST(LatticeInterface, Uniform_SpreadsCentresEvenly) {
  const saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_UNIFORM, 4, 64, 64);
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  ASSERT_EQ(info_of(lattice).patch_count, 4);
  EXPECT_EQ(info_of(lattice).snap_px, 0);
  const float fixation[2] = {0.1f, 0.9f};
  float geometry[16] = {};
  ASSERT_EQ(saccade_lattice_plan(lattice, fixation, 1, 0, geometry), SACCADE_OK);
  const std::vector<float> expected{0.25f, 0.25f, 1, 1, 0.75f, 0.25f, 1, 1, 0.25f, 0.75f, 1, 1, 0.75f, 0.75f, 1, 1};
  EXPECT_EQ(std::vector<float>(geometry, geometry + 16), expected);
  saccade_lattice_free(lattice);
}

TEST(LatticeInterface, Nested_MovesWithTheSnappedFixation) {
  const saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 1920, 1080);
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  const saccade_lattice_info info = info_of(lattice);
  ASSERT_GT(info.snap_px, 0);
  const float fixations[4] = {0, 0, 0.3f, 0.7f};
  std::vector<float> geometry(2 * static_cast<std::size_t>(info.patch_count) * 4);
  ASSERT_EQ(saccade_lattice_plan(lattice, fixations, 2, 1, geometry.data()), SACCADE_OK);
  const auto snapped = [&](double px) { return std::floor(px / info.snap_px + 0.5) * info.snap_px; };
  const auto half = geometry.size() / 2;
  for (std::size_t n = 0; n < half; n += 4) {
    ASSERT_EQ(geometry[half + n] - geometry[n], snapped(static_cast<double>(0.3f) * 1920));
    ASSERT_EQ(geometry[half + n + 1] - geometry[n + 1], snapped(static_cast<double>(0.7f) * 1080));
    ASSERT_EQ(geometry[half + n + 2], geometry[n + 2]);
  }
  saccade_lattice_free(lattice);
}

TEST(LatticeInterface, Rings_AreTakenOneByOne) {
  const std::int32_t strides[] = {1, 2}, sides[] = {4, 4};
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 256, 256);
  settings.strides = strides;
  settings.sides = sides;
  settings.ring_count = 2;
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(info_of(lattice).patch_count, 16 + 12);
  saccade_lattice_free(lattice);
}

TEST(LatticeInterface, SettingsWithoutSense_AreRefused) {
  saccade_lattice* lattice = nullptr;
  EXPECT_EQ(saccade_lattice_new(nullptr, &lattice), SACCADE_ERROR_USAGE);
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 64, 64);
  EXPECT_EQ(saccade_lattice_new(&settings, nullptr), SACCADE_ERROR_USAGE);
  settings.struct_size = 1;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 64, 64);
  settings.kind = 9;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  settings = lattice_settings(SACCADE_LATTICE_NESTED, 100, 64, 64);
  settings.e0 = 2;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  settings = lattice_settings(SACCADE_LATTICE_NESTED, 1, 1920, 1080);
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  EXPECT_NE(std::string(saccade_last_error()).find("needs at least"), std::string::npos);
  settings = lattice_settings(SACCADE_LATTICE_GRID, 9, 0, 64);
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  EXPECT_EQ(lattice, nullptr);
  saccade_lattice_free(nullptr);
}

}  // namespace
}  // namespace saccade::test
