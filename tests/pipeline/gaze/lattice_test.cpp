#include "pipeline/gaze/lattice/lattice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "pipeline/gaze/lattice/fovea_presets.h"
#include "tests/pipeline/gaze/lattices.h"

namespace saccade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NestedLattice, AnyFixation_CoversTheFrameOnce) {
  std::mt19937 random(20);
  std::uniform_real_distribution<float> uv(0, 1);
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {2, 2},     {15, 17},  {64, 64},
                                               {65, 63}, {161, 121}, {320, 50}, {33, 400}};
  for (const auto& [width, height] : sizes) {
    for (const int levels : {1, 4, 7, 9}) {
      for (const int patch_size : {2, 8, 16, 64}) {
        const FrameGeometry geometry{width, height, 1.0, levels};
        LatticeConfig config;
        config.patch_size = patch_size;
        const double e0 = std::exp2(std::uniform_real_distribution<double>(-3, 6)(random));
        Acuity acuity{.e0 = e0, .m0 = e0};
        if (random() % 2 == 0) acuity.m0 = e0 * std::exp2(std::uniform_real_distribution<double>(-1, 1)(random));
        config.shape = acuity;
        const auto lattice = make_lattice(config, geometry);
        for (const float u : {0.0f, 1.0f, uv(random)}) {
          for (const float v : {0.0f, 1.0f, uv(random)}) expect_covered_once(*lattice, geometry, u, v);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(NestedLattice, RealFrameSizes_AreCoveredOnce) {
  for (const FrameGeometry& geometry :
       {FrameGeometry{1920, 1080, 1.0, 7}, FrameGeometry{720, 576, 16.0 / 11, 7}, FrameGeometry{4096, 2160, 1.0, 7}}) {
    const auto lattice = make_lattice({}, geometry);
    for (const auto& [u, v] : {std::pair{0.0f, 0.0f}, {1.0f, 1.0f}, {0.5f, 0.5f}, {0.123f, 0.987f}}) {
      expect_covered_once(*lattice, geometry, u, v);
    }
  }
}

TEST(NestedLattice, LumaSamples_AreTexelCentresOfTheirLevel) {
  std::mt19937 random(21);
  std::uniform_real_distribution<float> uv(0, 1);
  const FrameGeometry geometry{1920, 1080, 1.0, 7};
  for (const int patch_size : {2, 6, 16}) {
    LatticeConfig config;
    config.patch_size = patch_size;
    config.shape = PatchBudget{.patches = 2000, .m0 = {}};
    const auto lattice = make_lattice(config, geometry);
    PatchPlan plan;
    for (int trial = 0; trial < 20; ++trial) {
      lattice->plan(uv(random), uv(random), plan);
      for (const Patch& patch : plan.patches) {
        ASSERT_EQ(patch.lod, std::floor(patch.lod));
        const double pitch = std::exp2(static_cast<double>(patch.lod));
        const double first = (static_cast<double>(patch.x_px) - 0.5 * (patch_size - 1) * pitch) / pitch;
        ASSERT_EQ(first - std::floor(first), 0.5) << patch.x_px << " at lod " << patch.lod;
      }
    }
  }
}

TEST(NestedLattice, Patches_AreOrderedByLevelRowColumn) {
  PatchPlan plan;
  LatticeConfig config;
  config.shape = PatchBudget{};
  make_lattice(config, {1280, 720, 1.0, 7})->plan(0.4f, 0.6f, plan);
  for (std::size_t n = 1; n < plan.count(); ++n) {
    const Patch& a = plan.patches[n - 1];
    const Patch& b = plan.patches[n];
    ASSERT_TRUE(a.lod < b.lod || (a.lod == b.lod && (a.y_px < b.y_px || (a.y_px == b.y_px && a.x_px < b.x_px)))) << n;
  }
}

TEST(NestedLattice, Pattern_LiesWithinHalfASnapOfTheFixation) {
  const FrameGeometry geometry{1920, 1080, 1.0, 7};
  LatticeConfig config;
  config.shape = PatchBudget{};
  const auto lattice = make_lattice(config, geometry);
  PatchPlan plan;
  std::mt19937 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const float u = std::uniform_real_distribution<float>(0, 1)(random);
    lattice->plan(u, 0.5f, plan);
    EXPECT_FLOAT_EQ(plan.fix_x_px, u * 1920);
    double sum = 0;  // level 0 is 4 x 4 patches around the centre
    for (int n = 0; n < 16; ++n) {
      ASSERT_EQ(plan.patches[static_cast<std::size_t>(n)].lod, 0.0f);
      sum += static_cast<double>(plan.patches[static_cast<std::size_t>(n)].x_px);
    }
    EXPECT_LE(std::abs(sum / 16 - static_cast<double>(plan.fix_x_px)), std::exp2(plan.patches.back().lod) / 2);
  }
}

TEST(NestedLattice, Coverage_CountsSamplesInsideTheFrame) {
  const FrameGeometry geometry{161, 121, 1.0, 7};
  const auto lattice = make_lattice({}, geometry);
  PatchPlan plan;
  for (const auto& [u, v] : {std::pair{0.0f, 0.0f}, {1.0f, 1.0f}, {0.3f, 0.8f}}) {
    lattice->plan(u, v, plan);
    for (const Patch& patch : plan.patches) {
      int inside = 0;
      const double pitch = std::exp2(static_cast<double>(patch.lod));
      for (int j = 0; j < 16; ++j) {
        for (int i = 0; i < 16; ++i) {
          const double x = static_cast<double>(patch.x_px) + (i - 7.5) * pitch;
          const double y = static_cast<double>(patch.y_px) + (j - 7.5) * pitch;
          inside += x >= 0 && x < 161 && y >= 0 && y < 121 ? 1 : 0;
        }
      }
      ASSERT_FLOAT_EQ(patch.coverage, static_cast<float>(inside) / 256);
    }
  }
}

// Counts by hand, for 1920x1080 at 40 degrees (48 px per degree), e0 = M0 = 2.3 (110.4 px), S = 16. A ring ends at
// R_l = 110.4 (2^(l + 1/2) - 1) px; 2 R_l / (16 2^l) = 5.7, 12.6, 16.1, 17.8, ... rounds to 4, 12, 16, 16. The squares
// reach 32, 192, 512, 1024 px; level 4 must reach 1920 px: 16 patches of 256 px. Of these 10 rows touch a frame 1080
// high (ceil(1080 / 256) = 5 above and below the centre), and the hole of 8 x 8 is whole.
TEST(NestedLattice, KnownAcuity_EqualsRingsByHand) {
  LatticeConfig config;
  config.shape = Acuity{.e0 = 2.3, .m0 = 2.3};
  const auto lattice = make_lattice(config, {1920, 1080, 1.0, 7});
  PatchPlan plan;
  lattice->plan(0.5f, 0.5f, plan);
  std::vector<int> counts(7);
  for (const Patch& patch : plan.patches) ++counts[static_cast<std::size_t>(patch.lod)];
  EXPECT_EQ(counts,
            (std::vector<int>{4 * 4, 12 * 12 - 2 * 2, 16 * 16 - 6 * 6, 16 * 16 - 8 * 8, 16 * 10 - 8 * 8, 0, 0}));
}

TEST(NestedLattice, AnyBudget_IsSpent) {
  std::size_t previous = 0;
  for (int budget = 88; budget < 3000; budget += 53) {
    LatticeConfig config;
    config.shape = PatchBudget{.patches = budget, .m0 = {}};
    const auto lattice = make_lattice(config, {1920, 1080, 1.0, 7});
    EXPECT_LE(lattice->patch_count(), static_cast<std::size_t>(budget));
    EXPECT_GE(lattice->patch_count(), previous);  // a larger budget is never spent worse
    previous = lattice->patch_count();
    EXPECT_EQ(lattice->fovea().m0, lattice->fovea().e0);

    // The reported e0 gives the same lattice when it is asked for.
    const auto e0 = static_cast<double>(lattice->fovea().e0);
    LatticeConfig again;
    again.shape = Acuity{.e0 = e0, .m0 = e0};
    EXPECT_EQ(make_lattice(again, {1920, 1080, 1.0, 7})->describe(), lattice->describe());
  }
  LatticeConfig standard;
  standard.shape = PatchBudget{};
  EXPECT_GT(make_lattice(standard, {1920, 1080, 1.0, 7})->patch_count(), 240U);
}

// No e0 whatever gives an N between the solver's and the budget.
TEST(NestedLattice, AnyBudget_FitsNoOtherE0Better) {
  for (const int budget : {100, 273, 640}) {
    LatticeConfig config;
    config.shape = PatchBudget{.patches = budget, .m0 = {}};
    const std::size_t solved = make_lattice(config, {640, 480, 1.0, 7})->patch_count();
    for (double e0 = 0.05; e0 < 400; e0 *= 1.01) {
      LatticeConfig other;
      other.shape = Acuity{.e0 = e0, .m0 = e0};
      const std::size_t count = make_lattice(other, {640, 480, 1.0, 7})->patch_count();
      EXPECT_TRUE(count <= solved || count > static_cast<std::size_t>(budget)) << e0 << ": " << count;
    }
  }
}

TEST(NestedLattice, GivenM0_IsKeptWhileSolving) {
  LatticeConfig config;
  config.shape = PatchBudget{.patches = 500, .m0 = 2.3};
  const auto lattice = make_lattice(config, {1920, 1080, 1.0, 7});
  EXPECT_FLOAT_EQ(lattice->fovea().m0, 2.3f);
  EXPECT_LE(lattice->patch_count(), 500U);
  EXPECT_GT(lattice->patch_count(), 400U);
}

TEST(NestedLattice, BadConfig_SaysWhatIsWrong) {
  const FrameGeometry geometry{1920, 1080, 1.0, 7};
  LatticeConfig config;
  config.shape = PatchBudget{.patches = 20, .m0 = {}};
  EXPECT_THAT(usage_error(config, geometry, Hint::kMorePatches),
              AllOf(HasSubstr("patches 20"), HasSubstr("at least 88")));
  config.shape = PatchBudget{.patches = 88, .m0 = {}};
  EXPECT_EQ(make_lattice(config, geometry)->patch_count(), 88U);

  LatticeConfig odd;
  odd.patch_size = 15;
  EXPECT_THAT(usage_error(odd, geometry), HasSubstr("patch-size 15"));
  LatticeConfig large;
  large.patch_size = 2;
  large.shape = Acuity{.e0 = 2000, .m0 = 2000};
  EXPECT_THAT(usage_error(large, geometry, Hint::kFewerPatches), HasSubstr("more than 1048576"));
}

TEST(NestedLattice, ExplicitRings_AreChecked) {
  const FrameGeometry geometry{1920, 1080, 1.0, 7};
  const auto error_of = [&](const std::vector<int>& strides, const std::vector<int>& sides, Hint hint = Hint::kNone) {
    ExplicitRings form;
    for (std::size_t i = 0; i < strides.size(); ++i) form.rings.push_back({.stride = strides[i], .side = sides[i]});
    LatticeConfig config;
    config.shape = form;
    return usage_error(config, geometry, hint);
  };
  EXPECT_THAT(error_of({}, {}), HasSubstr("at least one ring"));
  EXPECT_THAT(error_of({1, 3}, {4, 4}), HasSubstr("3 at place 2"));
  EXPECT_THAT(error_of({1, 4}, {4, 4}), HasSubstr("4 at place 2"));
  EXPECT_THAT(error_of({1, 2}, {5, 5}), HasSubstr("odd"));
  EXPECT_THAT(error_of({1, 2}, {4, 5}), AllOf(HasSubstr("5 at place 2"), HasSubstr("even")));
  EXPECT_THAT(error_of({1, 2}, {6, 4}), AllOf(HasSubstr("4 at place 2"), HasSubstr("odd")));
  EXPECT_THAT(error_of({1, 2}, {8, 2}), HasSubstr("4 or more"));
  EXPECT_THAT(error_of({64, 128}, {4, 4}, Hint::kMoreLevels), HasSubstr("8 pyramid levels, there are 7"));
  EXPECT_EQ(error_of({1, 2, 4, 8}, {4, 4, 6, 7}), "no error");

  LatticeConfig config;
  config.shape = ExplicitRings{{{1, 4}, {2, 4}, {4, 4}, {8, 4}}};
  EXPECT_EQ(make_lattice(config, geometry)->patch_count(), 16U + 3 * 12U);
}

TEST(GridLattice, Plan_SpreadsCentresEvenlyWithLodByEccentricity) {
  LatticeConfig config;
  config.shape = GridShape{};
  const FrameGeometry geometry{1920, 1080, 1.0, 7};
  const auto lattice = make_lattice(config, geometry);
  EXPECT_EQ(lattice->patch_count(), 273U);  // 21 x 13
  PatchPlan plan;
  lattice->plan(0.25f, 0.75f, plan);
  ASSERT_EQ(plan.count(), 273U);
  EXPECT_FLOAT_EQ(plan.patches[22].x_px, 1.5f * 1920 / 21);
  EXPECT_FLOAT_EQ(plan.patches[22].y_px, 1.5f * 1080 / 13);
  for (const Patch& patch : plan.patches) {
    const double e =
        std::hypot(static_cast<double>(patch.x_px) - 480, static_cast<double>(patch.y_px) - 810) * 40 / 1920;
    ASSERT_NEAR(patch.lod, std::clamp(std::log2((e + 2.3) / 2.3), 0.0, 6.0), 1e-5);
  }
}

TEST(GridLattice, NumberAsked_BoundsTheLargestWellShapedGrid) {
  LatticeConfig config;
  config.shape = GridShape{.patches = 97, .acuity = {}};  // a prime: 12 x 8 is the largest product of a 16:9 shape
  const auto lattice = make_lattice(config, {1920, 1080, 1.0, 7});
  EXPECT_EQ(lattice->patch_count(), 96U);
  EXPECT_THAT(lattice->describe(), HasSubstr("97 asked"));
  config.shape = GridShape{.patches = 1, .acuity = {}};
  EXPECT_EQ(make_lattice(config, {1920, 1080, 1.0, 7})->patch_count(), 1U);
  config.shape = GridShape{.patches = 50, .acuity = {}};
  EXPECT_EQ(make_lattice(config, {4000, 4, 1.0, 7})->patch_count(), 50U);
}

TEST(UniformLattice, Lod_CoversTheFrameUnlessGiven) {
  LatticeConfig config;
  config.shape = UniformShape{.patches = 12, .lod = {}, .acuity = {}};
  const FrameGeometry geometry{1024, 768, 1.0, 7};
  const auto lattice = make_lattice(config, geometry);  // 4 x 3 cells of 256 px: 16 samples, 16 px apart
  PatchPlan plan;
  lattice->plan(0.1f, 0.2f, plan);
  ASSERT_EQ(plan.count(), 12U);
  for (const Patch& patch : plan.patches) EXPECT_FLOAT_EQ(patch.lod, 4.0f);
  config.shape = UniformShape{.patches = 12, .lod = 1.5, .acuity = {}};
  make_lattice(config, geometry)->plan(0.1f, 0.2f, plan);
  EXPECT_FLOAT_EQ(plan.patches[3].lod, 1.5f);
  config.shape = UniformShape{.patches = 12, .lod = 6.5, .acuity = {}};
  EXPECT_THAT(usage_error(config, geometry, Hint::kMoreLevels), HasSubstr("lod 6.5"));
}

TEST(UniformLattice, WithoutACount_LiesSideBySide) {
  LatticeConfig config;
  config.patch_size = 28;
  config.shape = UniformShape{.patches = {}, .lod = 0, .acuity = {}};
  auto lattice = make_lattice(config, {100, 50, 1.0, 7});
  EXPECT_TRUE(lattice->samples_texels());
  PatchPlan plan;
  lattice->plan(0.9f, 0.9f, plan);
  ASSERT_EQ(plan.count(), 8U);  // 4 x 2
  EXPECT_EQ(plan.patches[0].x_px, 14);
  EXPECT_EQ(plan.patches[0].y_px, 14);
  EXPECT_EQ(plan.patches[7].x_px, 98);
  EXPECT_EQ(plan.patches[7].y_px, 42);
  EXPECT_EQ(plan.patches[0].coverage, 1);
  EXPECT_NEAR(plan.patches[7].coverage, 16.0 / 28 * 22 / 28, 1e-6);
  config.shape = UniformShape{.patches = {}, .lod = 1, .acuity = {}};
  lattice = make_lattice(config, {100, 50, 1.0, 7});
  EXPECT_EQ(lattice->patch_count(), 2U);
  EXPECT_TRUE(lattice->samples_texels());
  config.shape = UniformShape{.patches = {}, .lod = 0.5, .acuity = {}};
  lattice = make_lattice(config, {100, 50, 1.0, 7});
  EXPECT_EQ(lattice->patch_count(), 6U);
  EXPECT_FALSE(lattice->samples_texels());
  config.patch_size = 2;
  config.shape = UniformShape{.patches = {}, .lod = 0, .acuity = {}};
  EXPECT_THAT(usage_error(config, {4000, 4000, 1.0, 7}, Hint::kFewerPatches), HasSubstr("4000000 patches"));
}

TEST(FoveaParams, EitherUnit_IsScaledPerPixel) {
  const auto deg = make_fovea_params({}, kDefaultFovDeg, {1920, 1080, 2.0, 7});
  EXPECT_FLOAT_EQ(deg.unit_per_px_x, 40.0f / 1920);
  EXPECT_FLOAT_EQ(deg.unit_per_px_y, 20.0f / 1920);  // a pixel twice as wide as high
  EXPECT_FLOAT_EQ(deg.e0, 2.3f);
  EXPECT_FLOAT_EQ(deg.m0, 2.3f);
  EXPECT_FLOAT_EQ(deg.max_lod, 6);
  const auto normalised = make_fovea_params(find_preset("uv")->acuity, kDefaultFovDeg, {1920, 1080, 1.0, 7});
  EXPECT_FLOAT_EQ(normalised.unit_per_px_x, 1.0f / 1920);
  EXPECT_FLOAT_EQ(normalised.unit_per_px_y, 1.0f / 1080);
  EXPECT_FLOAT_EQ(normalised.m0, 1.0f);
  EXPECT_FLOAT_EQ(normalised.e0, 0.5f);
}

TEST(FoveaParams, BadNumbers_AreRefused) {
  const FrameGeometry geometry{64, 64, 1.0, 7};
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    Acuity acuity;
    acuity.e0 = bad;
    EXPECT_THROW(make_fovea_params(acuity, kDefaultFovDeg, geometry), UsageError);
    acuity = {};
    acuity.m0 = bad;
    EXPECT_THROW(make_fovea_params(acuity, kDefaultFovDeg, geometry), UsageError);
    EXPECT_THROW(make_fovea_params({}, bad, geometry), UsageError);
  }
  EXPECT_NO_THROW(make_fovea_params({}, 180, geometry));
  EXPECT_THROW(make_fovea_params({}, 181, geometry), UsageError);
}

}  // namespace
}  // namespace saccade
