// Y'CbCr to R'G'B' against the closed formulas in double precision.
#include "kernels/color.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace saccade::test {
namespace {

// E'_R = E'_Y + 2 (1 - Kr) E'_Cr and so on: H.273 equations 29 to 31 solved for R, G, B.
std::array<double, 3> closed(double kr, double kb, double y, double cb, double cr) {
  const double r = y + 2 * (1 - kr) * cr;
  const double b = y + 2 * (1 - kb) * cb;
  const double g = (y - kr * r - kb * b) / (1 - kr - kb);
  return {std::clamp(r, 0.0, 1.0), std::clamp(g, 0.0, 1.0), std::clamp(b, 0.0, 1.0)};
}

struct Case {
  ColorMatrix matrix;
  double kr, kb;
};
constexpr std::array kCases{Case{ColorMatrix::kBt601, 0.299, 0.114}, Case{ColorMatrix::kBt709, 0.2126, 0.0722},
                            Case{ColorMatrix::kBt2020, 0.2627, 0.0593}, Case{ColorMatrix::kSmpte240m, 0.212, 0.087}};

TEST(Color, AnyCode_AgreesWithClosedFormulas) {
  for (const Case& each : kCases) {
    for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      for (const int bits : {8, 10, 12, 16}) {
        SCOPED_TRACE(fmt::format("{} {} {} bits", name(each.matrix), name(range), bits));
        const ColorSpec spec{each.matrix, range, static_cast<std::uint8_t>(bits), 0.25f, 0.0f};
        const int align = bits == 8 ? 0 : 16 - bits;
        const double largest = std::exp2(bits) - 1;
        const double step = std::exp2(bits - 8);
        const bool full = range == ColorRange::kFull;
        for (const float code_max : {bits == 8 ? 255.0f : 65535.0f, 1.0f}) {
          const shared::ColorParams params = make_color_params(spec, code_max);
          const double storage_max = bits == 8 ? 255 : 65535;
          double worst = 0;
          for (int sample = 0; sample < 17 * 17 * 17; ++sample) {
            const double y = std::round(sample % 17 * largest / 16);
            const double cb = std::round(sample / 17 % 17 * largest / 16);
            const double cr = std::round(sample / 289 * largest / 16);
            const auto expected = closed(each.kr, each.kb, full ? y / largest : (y - 16 * step) / (219 * step),
                                         (cb - 128 * step) / (full ? largest : 224 * step),
                                         (cr - 128 * step) / (full ? largest : 224 * step));
            const double stored = std::exp2(align) * static_cast<double>(code_max) / storage_max;
            const shared::Rgb rgb =
                shared::ycbcr_to_rgb(static_cast<float>(y * stored), static_cast<float>(cb * stored),
                                     static_cast<float>(cr * stored), params);
            worst = std::max({worst, std::abs(static_cast<double>(rgb.r) - expected[0]),
                              std::abs(static_cast<double>(rgb.g) - expected[1]),
                              std::abs(static_cast<double>(rgb.b) - expected[2])});
          }
          EXPECT_LT(worst, 2e-6) << "code_max " << code_max;
        }
      }
    }
  }
}

TEST(Color, KnownCodes_GiveTheirColours) {
  // BT.709 limited, 8 bits: white, black, and EBU red 75 % (Y 51, Cb 109, Cr 212).
  const shared::ColorParams p = make_color_params({ColorMatrix::kBt709, ColorRange::kLimited, 8, 0.25f, 0.0f}, 255.0f);
  const shared::Rgb white = shared::ycbcr_to_rgb(235, 128, 128, p);
  EXPECT_NEAR(white.r, 1, 1e-6);
  EXPECT_NEAR(white.g, 1, 1e-6);
  EXPECT_NEAR(white.b, 1, 1e-6);
  const shared::Rgb black = shared::ycbcr_to_rgb(16, 128, 128, p);
  EXPECT_NEAR(black.r + black.g + black.b, 0, 1e-6);
  const shared::Rgb red = shared::ycbcr_to_rgb(51, 109, 212, p);
  EXPECT_NEAR(red.r, 0.75, 0.004);
  EXPECT_NEAR(red.g, 0, 0.004);
  EXPECT_NEAR(red.b, 0, 0.004);
}

TEST(Color, UntaggedMatrix_FollowsTheSize) {
  EXPECT_EQ(default_matrix(1279, 719), ColorMatrix::kBt601);
  EXPECT_EQ(default_matrix(1280, 100), ColorMatrix::kBt709);
  EXPECT_EQ(default_matrix(100, 720), ColorMatrix::kBt709);
}

}  // namespace
}  // namespace saccade::test
