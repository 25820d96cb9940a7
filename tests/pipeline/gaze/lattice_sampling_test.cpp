// What nested patches sample, through the CPU pyramid.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "pipeline/gaze/lattice/lattice.h"
#include "tests/pipeline/gaze/scene.h"

namespace saccade {
namespace {

// Floor of the mean of a block of an RGBA picture: the tokens of the published "Segment This Thing" foveator.
int block_floor_mean(Scene& scene, int x, int y, int size, int channel) {
  std::int64_t sum = 0;
  for (int row = y; row < y + size; ++row) {
    for (int col = x; col < x + size; ++col) {
      sum += scene.plane(0)[static_cast<std::size_t>((row * scene.width_px() + col) * 4 + channel)];
    }
  }
  return static_cast<int>(sum / (size * size));
}

void expect_block_means(const std::vector<int>& sides, int patch_size, float u, float v) {
  Scene scene(512, 384, TextureFormat::kRgba8);
  std::mt19937 random(9);
  scene.randomise(random);
  scene.upload_all();
  LatticeConfig config;
  config.patch_size = patch_size;
  ExplicitRings form;
  for (const int side : sides) form.rings.push_back({.stride = 1 << form.rings.size(), .side = side});
  config.shape = form;
  const auto lattice = make_lattice(config, {512, 384, 1.0, 7});
  PatchPlan plan;
  lattice->plan(u, v, plan);
  PatchBatch batch(plan.count(), patch_size, {});
  scene.pyramid().sample(plan, scene.view().color, batch);
  int whole = 0;
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    const int stride = 1 << static_cast<int>(patch.lod);
    const int left = static_cast<int>(patch.x_px) - patch_size * stride / 2;
    const int top = static_cast<int>(patch.y_px) - patch_size * stride / 2;
    if (left < 0 || top < 0 || left + patch_size * stride > 512 || top + patch_size * stride > 384) continue;
    ++whole;
    const auto bytes = batch.patch(n);
    for (int c = 0; c < 3; ++c) {
      for (int j = 0; j < patch_size; ++j) {
        for (int i = 0; i < patch_size; ++i) {
          const int expected = block_floor_mean(scene, left + i * stride, top + j * stride, stride, c);
          const int got = static_cast<int>(bytes[static_cast<std::size_t>((c * patch_size + j) * patch_size + i)]);
          ASSERT_TRUE(got == expected || got == expected + 1) << got << " against " << expected << ", patch " << n;
        }
      }
    }
  }
  EXPECT_GT(whole, 20);
}

TEST(NestedLattice, AnyRings_EqualTheBlockMeansOfSegmentThisThing) {
  expect_block_means({4, 4, 4, 4}, 16, 0.5f, 0.5f);
  expect_block_means({4, 4, 6, 7}, 8, 0.3f, 0.6f);
  expect_block_means({4, 4, 4, 4}, 6, 0.9f, 0.1f);
}

TEST(NestedLattice, LevelZeroPatches_AreTheFramesOwnPixels) {
  Scene scene(320, 240, TextureFormat::kRgba8);
  std::mt19937 random(10);
  scene.randomise(random);
  scene.upload_all();
  const auto lattice = make_lattice({}, {320, 240, 1.0, 7});
  PatchPlan plan;
  lattice->plan(0.4f, 0.55f, plan);
  PatchBatch batch(plan.count(), 16, {});
  scene.pyramid().sample(plan, scene.view().color, batch);
  for (std::size_t n = 0; plan.patches[n].lod == 0; ++n) {
    ASSERT_EQ(plan.patches[n].coverage, 1.0f);
    for (int c = 0; c < 3; ++c) {
      for (int j = 0; j < 16; ++j) {
        for (int i = 0; i < 16; ++i) {
          const int x = static_cast<int>(plan.patches[n].x_px) - 8 + i;
          const int y = static_cast<int>(plan.patches[n].y_px) - 8 + j;
          ASSERT_EQ(static_cast<int>(batch.patch(n)[static_cast<std::size_t>((c * 16 + j) * 16 + i)]),
                    scene.plane(0)[static_cast<std::size_t>((y * 320 + x) * 4 + c)]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace saccade
