// Lattices through the C interface: plans by hand, and settings that make no sense.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
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

// What a stream's default lattice is: the pattern around the rounded fixation, of which those that meet the frame.
TEST(LatticeInterface, Nested_PlansThePatternThatMeetsTheFrame) {
  const saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 1920, 1080);
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  const saccade_lattice_info info = info_of(lattice);
  ASSERT_GT(info.snap_px, 0);
  ASSERT_LE(info.patch_count, 273);
  ASSERT_GT(info.pattern_count, info.patch_count);
  std::vector<float> pattern(static_cast<std::size_t>(info.pattern_count) * 3);
  ASSERT_EQ(saccade_lattice_get_pattern(lattice, pattern.data()), SACCADE_OK) << saccade_last_error();
  const float fixation[2] = {0.05f, 0.7f};
  std::vector<float> geometry(static_cast<std::size_t>(info.patch_count) * 4);
  ASSERT_EQ(saccade_lattice_plan(lattice, fixation, 1, 1, geometry.data()), SACCADE_OK);
  const auto snapped = [&](float uv, int size) {
    return static_cast<float>(std::floor(static_cast<double>(uv) * size / info.snap_px + 0.5) * info.snap_px);
  };
  std::size_t planned = 0;
  for (std::size_t n = 0; n < pattern.size(); n += 3) {
    const float x = snapped(fixation[0], 1920) + pattern[n], y = snapped(fixation[1], 1080) + pattern[n + 1];
    const float half = 8 * std::exp2(pattern[n + 2]);
    if (x + half <= 0 || x - half >= 1920 || y + half <= 0 || y - half >= 1080) continue;
    const std::vector<float> found(geometry.begin() + static_cast<std::ptrdiff_t>(4 * planned),
                                   geometry.begin() + static_cast<std::ptrdiff_t>(4 * planned + 3));
    ASSERT_EQ(found, (std::vector<float>{x, y, pattern[n + 2]}));
    ++planned;
  }
  for (std::size_t n = 4 * planned; n < geometry.size(); n += 4) EXPECT_EQ(geometry[n + 3], 0);  // coverage
  saccade_lattice_free(lattice);
}

TEST(LatticeInterface, Fovea_IsAWidthInPixelsOrDegrees) {
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 400, 1920, 1080);
  std::vector<saccade_lattice_info> infos;
  for (const auto& [fovea, degrees] : {std::pair{192.0, 0}, {4.0, 1}}) {  // 40 degrees over 1920 px
    settings.fovea = fovea;
    settings.fovea_deg = degrees;
    saccade_lattice* lattice = nullptr;
    ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
    infos.push_back(info_of(lattice));
    std::vector<float> pattern(static_cast<std::size_t>(infos.back().pattern_count) * 3);
    ASSERT_EQ(saccade_lattice_get_pattern(lattice, pattern.data()), SACCADE_OK);
    std::size_t fine = 0;
    for (std::size_t n = 2; n < pattern.size(); n += 3) fine += pattern[n] == 0 ? 1 : 0;
    EXPECT_EQ(fine, 144U);  // 192 px are 12 patches of 16
    saccade_lattice_free(lattice);
  }
  EXPECT_EQ(infos[0].patch_count, infos[1].patch_count);
}

TEST(LatticeInterface, SettingsWithoutASize_AreOnlyChecked) {
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 100, 0, 0);
  saccade_lattice* lattice = nullptr;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(lattice, nullptr);
  settings.m0 = 2;
  EXPECT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_ERROR_USAGE);
  EXPECT_NE(std::string(saccade_last_error()).find("tokens: conflicts with m0"), std::string::npos);
}

TEST(LatticeInterface, SettingsOfAnEarlierVersion_AreTaken) {
  saccade_lattice_settings settings = lattice_settings(SACCADE_LATTICE_NESTED, 0, 640, 480);
  settings.patches = 200;
  settings.struct_size = offsetof(saccade_lattice_settings, fovea);
  settings.tokens = 7;  // beyond its end
  saccade_lattice* lattice = nullptr;
  ASSERT_EQ(saccade_lattice_new(&settings, &lattice), SACCADE_OK) << saccade_last_error();
  EXPECT_EQ(info_of(lattice).pattern_count, info_of(lattice).patch_count);
  saccade_lattice_free(lattice);
}

TEST(PublishedConstants, ByIndex_EndAfterTheLast) {
  saccade_fovea_preset preset{};
  preset.struct_size = sizeof preset;
  ASSERT_EQ(saccade_fovea_preset_describe(0, &preset), SACCADE_OK);
  EXPECT_STREQ(preset.name, "geisler-perry");
  EXPECT_EQ(preset.e0, 2.3);
  EXPECT_EQ(saccade_fovea_preset_describe(4, &preset), SACCADE_END);
  EXPECT_EQ(saccade_fovea_preset_describe(0, nullptr), SACCADE_ERROR_USAGE);
  saccade_normalization set{};
  set.struct_size = sizeof set;
  ASSERT_EQ(saccade_normalization_describe(3, &set), SACCADE_OK);
  EXPECT_STREQ(set.name, "siglip");
  EXPECT_EQ(set.deviation[2], 0.5);
  EXPECT_EQ(saccade_normalization_describe(4, &set), SACCADE_END);
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
