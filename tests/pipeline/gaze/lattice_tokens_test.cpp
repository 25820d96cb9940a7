// The nested lattice of a token budget: what lies inside the frame is counted patch by patch, from every centre.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "tests/pipeline/gaze/lattices.h"

namespace saccade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LatticeConfig budget(int tokens, std::optional<FoveaWidth> fovea = {}, int patch_size = 16) {
  LatticeConfig config;
  config.patch_size = patch_size;
  config.shape = TokenBudget{.tokens = tokens, .fovea = fovea};
  return config;
}

// How many squares meet the frame.
std::size_t inside(const PatchPlan& plan, const FrameGeometry& geometry) {
  return static_cast<std::size_t>(std::count_if(plan.patches.begin(), plan.patches.end(), [&](const Patch& p) {
    const double half = plan.patch_size * std::exp2(static_cast<double>(p.lod)) / 2;
    const double x = static_cast<double>(p.x_px), y = static_cast<double>(p.y_px);
    return x + half > 0 && y + half > 0 && x - half < geometry.width_px && y - half < geometry.height_px;
  }));
}

// The side of the square of level 0, from the frame's middle.
double fovea_px(const Lattice& lattice, const FrameGeometry& geometry) {
  PatchPlan plan;
  lattice.plan(0.5f, 0.5f, plan);
  double left = geometry.width_px, right = 0;
  for (const Patch& patch : plan.patches) {
    if (patch.lod > 0 || patch.coverage <= 0) continue;
    left = std::min(left, static_cast<double>(patch.x_px) - plan.patch_size / 2.0);
    right = std::max(right, static_cast<double>(patch.x_px) + plan.patch_size / 2.0);
  }
  return right - left;
}

TEST(TokenBudget, AnyFixation_HasNoMoreInsideAndThoseCoverTheFrameOnce) {
  std::mt19937 random(31);
  std::uniform_real_distribution<float> uv(0, 1);
  PatchPlan plan;
  for (const auto& [width, height] : {std::pair{320, 180}, {161, 121}, {33, 400}, {64, 64}, {640, 360}}) {
    const FrameGeometry geometry{width, height, 1.0, 7};
    for (const int tokens : {110, 140, 273, 700}) {
      const auto lattice = make_lattice(budget(tokens), geometry);
      for (const float u : {0.0f, 1.0f, uv(random)}) {
        for (const float v : {0.0f, 1.0f, uv(random)}) {
          lattice->plan(u, v, plan);
          EXPECT_LE(inside(plan, geometry), static_cast<std::size_t>(tokens));
          expect_covered_once(*lattice, geometry, u, v);
          if (HasFailure()) FAIL() << width << "x" << height << ", " << tokens << " tokens, " << u << "," << v;
        }
      }
    }
  }
}

TEST(TokenBudget, PatchCount_IsTheMostThatAnyCentreHas) {
  PatchPlan plan;
  for (const auto& [width, height, levels, patch_size] : {std::array{320, 180, 7, 16}, std::array{161, 121, 4, 6},
                                                          std::array{250, 90, 3, 16}, std::array{65, 63, 1, 8}}) {
    const FrameGeometry geometry{width, height, 1.0, levels};
    const auto lattice = make_lattice(budget(500, {}, patch_size), geometry);
    std::size_t most = 0;
    for (int y = 0; y <= height; ++y) {
      for (int x = 0; x <= width; x += 1 + (y % lattice->snap_px() != 0) * width) {
        lattice->plan(static_cast<float>(x) / static_cast<float>(width),
                      static_cast<float>(y) / static_cast<float>(height), plan);
        most = std::max(most, inside(plan, geometry));
      }
    }
    EXPECT_EQ(most, lattice->patch_count()) << lattice->describe();
  }
}

TEST(TokenBudget, Padding_IsAtTheEndOutsideAndTheSameEachTime) {
  const FrameGeometry geometry{1280, 720, 1.0, 7};
  const auto lattice = make_lattice(budget(273), geometry);
  PatchPlan corner, other;
  lattice->plan(0, 0, corner);
  lattice->plan(1, 1, other);
  const std::size_t from = std::max(inside(corner, geometry), inside(other, geometry));
  ASSERT_LT(from, corner.count());
  for (std::size_t n = 0; n < corner.count(); ++n)
    EXPECT_EQ(corner.patches[n].coverage > 0, n < inside(corner, geometry)) << n;
  for (std::size_t n = inside(corner, geometry); n < corner.count(); ++n) {
    EXPECT_LE(corner.patches[n].y_px + 8, 0.0f);
    EXPECT_LE(corner.patches[n].x_px + 8, 0.0f);
    EXPECT_EQ(corner.patches[n].lod, 0.0f);
  }
}

TEST(TokenBudget, GivenFovea_IsRoundedToFourPatches) {
  const FrameGeometry geometry{1280, 720, 1.0, 7};  // 40 degrees: 32 px a degree
  for (const auto& [asked, px] : {std::pair{FoveaWidth{128}, 128},
                                  {FoveaWidth{100}, 128},
                                  {FoveaWidth{90}, 64},
                                  {FoveaWidth{1}, 64},
                                  {FoveaWidth{4, true}, 128},
                                  {FoveaWidth{6.1, true}, 192}}) {
    EXPECT_EQ(fovea_px(*make_lattice(budget(273, asked), geometry), geometry), px) << asked.value;
  }
}

TEST(TokenBudget, MoreTokens_NeverNarrowTheFovea) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {360, 640}}) {
    const FrameGeometry geometry{width, height, 1.0, 7};
    double before = 0;
    for (int tokens = 100; tokens < 2000; tokens += 61) {
      const double now = fovea_px(*make_lattice(budget(tokens), geometry), geometry);
      EXPECT_GE(now, before) << tokens;
      before = now;
    }
  }
}

TEST(TokenBudget, EnoughForAll_IsTheWholeFrameAtFullResolution) {
  for (const int tokens : {4096, 100000, 1 << 20}) {
    for (const auto& [width, height] : {std::pair{1280, 720}, {64, 64}, {1, 1}, {640, 16}}) {
      const FrameGeometry geometry{width, height, 1.0, 7};
      const auto lattice = make_lattice(budget(tokens), geometry);
      PatchPlan plan;
      lattice->plan(0.3f, 0.9f, plan);
      for (const Patch& patch : plan.patches) ASSERT_EQ(patch.lod, 0.0f) << tokens << " " << width << "x" << height;
    }
  }
}

TEST(TokenBudget, BadConfig_SaysWhatIsWrong) {
  const FrameGeometry geometry{1280, 720, 1.0, 7};
  EXPECT_THAT(usage_error(budget(20), geometry, Hint::kMorePatches),
              AllOf(HasSubstr("tokens 20"), HasSubstr("at least 68")));
  EXPECT_EQ(make_lattice(budget(68), geometry)->patch_count(), 68U);
  EXPECT_THAT(usage_error(budget(273, FoveaWidth{4000}), geometry, Hint::kMorePatches),
              AllOf(HasSubstr("a fovea of 4032 px"), HasSubstr("at least 37")));
  EXPECT_THAT(usage_error(budget(0), geometry), HasSubstr("tokens 0"));
  EXPECT_THAT(usage_error(budget(273, FoveaWidth{0}), geometry), HasSubstr("above 0"));
  EXPECT_THAT(usage_error(budget(273, FoveaWidth{std::nan("")}), geometry), HasSubstr("above 0"));
}

}  // namespace
}  // namespace saccade
