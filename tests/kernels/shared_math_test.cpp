// The shared functions against the formulas in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/shared/fovea.h"
#include "kernels/shared/oculomotor.h"
#include "kernels/shared/sampling.h"

namespace saccade::shared {
namespace {

constexpr FoveaParams kFovea{.m0 = 2.3f,
                             .e0 = 2.3f,
                             .unit_per_px_x = 0.02f,
                             .unit_per_px_y = 0.03f,
                             .max_lod = 6,
                             .pad0 = 0,
                             .pad1 = 0,
                             .pad2 = 0};

TEST(Fovea, Eccentricity_IsTheDistanceInItsUnit) {
  // 3-4-5: 150 px * 0.02 = 3, 400/3 px * 0.03 = 4.
  EXPECT_FLOAT_EQ(eccentricity(250, 100 + 400.0f / 3, 100, 100, kFovea), 5.0f);
  EXPECT_EQ(eccentricity(7, 9, 7, 9, kFovea), 0.0f);
}

TEST(Fovea, LevelOfDetail_FollowsTheHyperbola) {
  for (double e = 0; e < 60; e += 0.37) {
    const double expected = std::clamp(std::log2((e + 2.3) / 2.3), 0.0, 6.0);
    EXPECT_NEAR(level_of_detail(static_cast<float>(e), kFovea), expected, 2e-6) << e;
  }
  EXPECT_EQ(level_of_detail(0, kFovea), 0.0f);
  EXPECT_FLOAT_EQ(level_of_detail(2.3f, kFovea), 1.0f);  // acuity halves at e0
  EXPECT_EQ(level_of_detail(1e6f, kFovea), 6.0f);
}

TEST(Fovea, M0OtherThanE0_IsPlateauOrBlur) {
  FoveaParams plateau = kFovea;
  plateau.m0 = 4.3f;  // full resolution out to M0 - e0 = 2
  EXPECT_EQ(level_of_detail(1.99f, plateau), 0.0f);
  EXPECT_GT(level_of_detail(2.1f, plateau), 0.0f);
  FoveaParams blurred = kFovea;
  blurred.m0 = 1.15f;
  EXPECT_FLOAT_EQ(level_of_detail(0, blurred), 1.0f);
}

TEST(Fovea, EccentricityOfLod_Inverts) {
  for (float lod = 0; lod < 6; lod += 0.21f) {
    EXPECT_NEAR(level_of_detail(eccentricity_of_lod(lod, kFovea), kFovea), lod, 1e-5) << lod;
  }
  FoveaParams blurred = kFovea;
  blurred.m0 = 1.0f;
  EXPECT_EQ(eccentricity_of_lod(0.5f, blurred), 0.0f);  // never negative
}

TEST(Fovea, Chroma_IsOneLevelFiner) {
  EXPECT_EQ(chroma_lod(0.5f), 0.0f);
  EXPECT_EQ(chroma_lod(2.25f), 1.25f);
}

TEST(Oculomotor, Duration_FollowsTheMainSequence) {
  EXPECT_FLOAT_EQ(saccade_duration_s(0), 0.021f);
  EXPECT_FLOAT_EQ(saccade_duration_s(10), 0.043f);
}

TEST(Oculomotor, MinimumJerk_IsTheQuintic) {
  for (double t = -0.5; t <= 1.5; t += 0.01) {
    const double s = std::clamp(t, 0.0, 1.0);
    const double expected = 10 * std::pow(s, 3) - 15 * std::pow(s, 4) + 6 * std::pow(s, 5);
    EXPECT_NEAR(minimum_jerk(static_cast<float>(t)), expected, 1e-6) << t;
  }
  EXPECT_EQ(minimum_jerk(0), 0.0f);
  EXPECT_EQ(minimum_jerk(0.5f), 0.5f);
  EXPECT_EQ(minimum_jerk(1), 1.0f);
}

TEST(Sampling, Positions_AreCentredAndEvenlySpaced) {
  EXPECT_EQ(sample_position_px(100, 0, 16, 1), 92.5f);
  EXPECT_EQ(sample_position_px(100, 15, 16, 1), 107.5f);
  EXPECT_EQ(sample_position_px(100, 0, 16, 4), 70.0f);
  EXPECT_EQ(sample_position_px(100, 8, 16, 4), 102.0f);
}

TEST(Sampling, KnownSites_GiveTheirTexels) {
  EXPECT_EQ(texel_coordinate(0.5f, 1, 0, 1), 0.0f);         // the centre of pixel 0 is texel 0
  EXPECT_EQ(texel_coordinate(4.0f, 1, 0, 0.125f), 0.0f);    // the centre of the first 8 pixels is texel 0 of level 3
  EXPECT_EQ(texel_coordinate(1.0f, 0.5f, 0, 1), 0.0f);      // centred chroma sits between pixels 0 and 1
  EXPECT_EQ(texel_coordinate(0.5f, 0.5f, 0.25f, 1), 0.0f);  // left-sited chroma sits on pixel 0
  EXPECT_EQ(lerp(2, 6, 0.25f), 3.0f);
}

}  // namespace
}  // namespace saccade::shared
