// Pictures of patches through the C interface: what it refuses, and pixels that follow by arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <saccade/picture.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

using testing::Each;
using testing::HasSubstr;

constexpr int kSide = 8;

saccade_painter_settings settings_of(int width, int height) {
  saccade_painter_settings settings{};
  settings.struct_size = sizeof settings;
  settings.width_px = width;
  settings.height_px = height;
  settings.patch_size = kSide;
  return settings;
}

// One patch of level 0 in the left upper corner of a frame of 32 x 16, all of one code.
class Painter : public testing::Test {
 protected:
  void SetUp() override { make(settings_of(32, 16)); }
  void TearDown() override { saccade_painter_free(painter_); }

  void make(const saccade_painter_settings& settings) {
    saccade_painter_free(painter_);
    ASSERT_EQ(saccade_painter_new(&settings, &painter_), SACCADE_OK) << saccade_last_error();
    ASSERT_EQ(saccade_painter_get_size(painter_, &width_, &height_), SACCADE_OK);
    rgb_.assign(static_cast<std::size_t>(width_ * height_ * 3), 1);
  }
  saccade_status paint(std::uint8_t code) {
    patch_.assign(3 * kSide * kSide, code);
    samples_.patches = patch_.data();
    return saccade_painter_paint(painter_, &samples_, rgb_.data(), rgb_.size());
  }
  int at(int x, int y) const { return rgb_[static_cast<std::size_t>((y * width_ + x) * 3)]; }

  saccade_painter* painter_ = nullptr;
  std::int32_t width_ = 0, height_ = 0;
  std::vector<std::uint8_t> patch_, rgb_;
  std::vector<float> geometry_ = {4.0f / 32, 4.0f / 16, 0, 1};
  saccade_patch_samples samples_{sizeof samples_, nullptr, geometry_.data(), 1, SACCADE_U8, {}, {}};
};

TEST_F(Painter, Patch_LiesOverGrey) {
  ASSERT_EQ(paint(200), SACCADE_OK) << saccade_last_error();
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 32; ++x) ASSERT_EQ(at(x, y), x < kSide && y < kSide ? 200 : 128) << x << ", " << y;
  }
}

TEST_F(Painter, Floats_AreScaledByMeanAndDeviation) {
  const std::vector<float> normalised(3 * kSide * kSide, (0.6f - 0.5f) / 0.25f);
  samples_ = {sizeof samples_, normalised.data(),  geometry_.data(),     1,
              SACCADE_F32,     {0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}};
  ASSERT_EQ(saccade_painter_paint(painter_, &samples_, rgb_.data(), rgb_.size()), SACCADE_OK);
  EXPECT_EQ(at(0, 0), 153);  // 0.6 x 255
  const std::vector<float> none(3 * kSide * kSide, std::nanf(""));
  samples_.patches = none.data();
  ASSERT_EQ(saccade_painter_paint(painter_, &samples_, rgb_.data(), rgb_.size()), SACCADE_OK);
  EXPECT_EQ(at(0, 0), 0);
}

TEST_F(Painter, Sizes_FollowTheAspectAndTheWidth) {
  saccade_painter_settings settings = settings_of(32, 16);
  settings.sar = 1.5;
  make(settings);
  EXPECT_EQ(std::pair(width_, height_), std::pair(48, 16));
  settings.picture_width_px = 24;
  make(settings);
  EXPECT_EQ(std::pair(width_, height_), std::pair(24, 8));
  settings.sar = 0.5;
  settings.picture_width_px = 0;
  make(settings);
  EXPECT_EQ(std::pair(width_, height_), std::pair(32, 32));
}

TEST_F(Painter, Memory_KeepsWhatStaysUntilForgotten) {
  saccade_painter_settings settings = settings_of(32, 16);
  settings.memory = 1;
  make(settings);
  ASSERT_EQ(paint(200), SACCADE_OK);
  const std::vector<float> whole = {8.0f / 32, 8.0f / 16, 1, 1, 24.0f / 32, 8.0f / 16, 1, 1};
  std::vector<std::uint8_t> coarse(2 * 3 * kSide * kSide, 90);
  for (std::size_t c = 0; c < 3; ++c) {  // the four texels over the fine patch agree with it
    for (std::size_t y = 0; y < 4; ++y) std::fill_n(coarse.begin() + static_cast<int>((c * 8 + y) * 8), 4, 201);
  }
  samples_ = {sizeof samples_, coarse.data(), whole.data(), 2, SACCADE_U8, {}, {}};
  ASSERT_EQ(saccade_painter_paint(painter_, &samples_, rgb_.data(), rgb_.size()), SACCADE_OK);
  EXPECT_EQ(at(2, 2), 200);
  EXPECT_EQ(at(20, 8), 90);
  saccade_painter_forget(painter_);
  ASSERT_EQ(saccade_painter_paint(painter_, &samples_, rgb_.data(), rgb_.size()), SACCADE_OK);
  EXPECT_EQ(at(2, 2), 201);
}

TEST_F(Painter, WrongPatches_AreRefusedAndNothingIsPainted) {
  const auto refused = [&](const std::function<void()>& spoil) {
    const saccade_patch_samples samples = samples_;
    const std::vector<float> geometry = geometry_;
    spoil();
    EXPECT_EQ(paint(200), SACCADE_ERROR_USAGE);
    samples_ = samples;
    geometry_ = geometry;
    return std::string(saccade_last_error());
  };
  EXPECT_THAT(refused([&] { geometry_[0] = std::nanf(""); }), HasSubstr("geometry"));
  EXPECT_THAT(refused([&] { geometry_[1] = 1e9f; }), HasSubstr("geometry"));
  EXPECT_THAT(refused([&] { geometry_[2] = 99; }), HasSubstr("geometry"));
  EXPECT_THAT(refused([&] { samples_.count = -1; }), HasSubstr("count"));
  EXPECT_THAT(refused([&] { samples_.dtype = 9; }), HasSubstr("dtype"));
  EXPECT_THAT(refused([&] { samples_.geometry = nullptr; }), HasSubstr("NULL"));
  EXPECT_EQ(saccade_painter_paint(painter_, &samples_, rgb_.data(), 5), SACCADE_ERROR_USAGE);
  EXPECT_THAT(saccade_last_error(), HasSubstr("rgb_bytes is 5; the picture has 1536"));
  EXPECT_THAT(rgb_, Each(1));
}

TEST(PainterSettings, WrongOnes_AreRefused) {
  const auto refused = [](const std::function<void(saccade_painter_settings&)>& spoil) {
    saccade_painter_settings settings = settings_of(32, 16);
    spoil(settings);
    saccade_painter* painter = nullptr;
    return saccade_painter_new(&settings, &painter) == SACCADE_ERROR_USAGE && painter == nullptr;
  };
  EXPECT_TRUE(refused([](auto& s) { s.width_px = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.height_px = 1 << 20; }));
  EXPECT_TRUE(refused([](auto& s) { s.patch_size = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.picture_width_px = -1; }));
  EXPECT_TRUE(refused([](auto& s) { s.sar = -2; }));
  EXPECT_TRUE(refused([](auto& s) { s.sar = std::nan(""); }));
  EXPECT_TRUE(refused([](auto& s) { s.sar = 1e6; }));
  EXPECT_TRUE(refused([](auto& s) { s.struct_size = 3; }));
  EXPECT_EQ(saccade_painter_new(nullptr, nullptr), SACCADE_ERROR_USAGE);
}

TEST(DrawFixation, RingAndCross_LieAroundTheFixation) {
  std::vector<std::uint8_t> rgb(100 * 100 * 3, 60);
  ASSERT_EQ(saccade_draw_fixation(rgb.data(), 100, 100, 0.5f, 0.5f, 0), SACCADE_OK);
  const auto at = [&](int x, int y) { return static_cast<int>(rgb[static_cast<std::size_t>((y * 100 + x) * 3)]); };
  EXPECT_EQ(at(57, 50), 255);  // on the ring, 7 pixels away
  EXPECT_EQ(at(50, 50), 60);   // the centre stays free
  EXPECT_EQ(at(90, 90), 60);
  EXPECT_EQ(saccade_draw_fixation(rgb.data(), 100, 100, 1.5f, 0.5f, 0), SACCADE_ERROR_USAGE);
  EXPECT_EQ(saccade_draw_fixation(nullptr, 100, 100, 0.5f, 0.5f, 0), SACCADE_ERROR_USAGE);
}

}  // namespace
