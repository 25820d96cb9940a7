// The per-frame calls of scanpath, lattices, history and histogram allocate nothing once they are made.
#include <gtest/gtest.h>

#include <random>

#include "pipeline/gaze/scanpath/scanpath.h"
#include "pipeline/run/changed/patch_history.h"
#include "pipeline/run/stats.h"
#include "tests/pipeline/gaze/scene.h"
#include "tests/support/allocation_counter.h"

namespace saccade {
namespace {

TEST(Allocation, Counter_Counts) {
  const long before = test::allocation_count();
  std::vector<int> numbers(100);
  numbers[3] = 1;
  EXPECT_GT(test::allocation_count(), before);
}

void expect_no_allocation(FixationPolicy policy, LatticeKind kind, TextureFormat format) {
  Scene scene(333, 222, format);
  std::mt19937 random(1);
  scene.randomise(random);
  scene.upload_all();
  const FrameGeometry geometry{333, 222, 1.0, kDefaultLevels};
  ScanpathConfig scanpath_config;
  scanpath_config.policy = policy;
  LatticeConfig lattice_config;
  if (kind == LatticeKind::kGrid) lattice_config.shape = GridShape{};
  if (kind == LatticeKind::kUniform) lattice_config.shape = UniformShape{};
  const auto path = make_scanpath(scanpath_config, geometry);
  const auto lattice = make_lattice(lattice_config, geometry);
  PatchHistory history(scene.pyramid().layout(), lattice->patch_count());
  DurationHistogram histogram;
  PatchPlan plan;
  plan.patches.reserve(lattice->patch_count());
  std::vector<std::uint8_t> changed;
  changed.reserve(lattice->patch_count());
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry, 0, 0, lattice.get()};

  const long before = test::allocation_count();
  for (std::int64_t frame = 0; frame < 50; ++frame) {
    history.note_damage(scene.damage());
    const Gaze gaze = path->step(frame * 40'000'000, view);
    lattice->plan(gaze.u, gaze.v, plan);
    history.mark(plan, scene.view().color, changed);
    histogram.record(frame * 1000);
    scene.damage().clear();
    scene.damage().set(static_cast<int>(frame), 500);
  }
  EXPECT_EQ(test::allocation_count(), before)
      << static_cast<int>(policy) << " " << static_cast<int>(kind) << " " << name(format);
}

TEST(Allocation, PerFrame_IsNone) {
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
    expect_no_allocation(FixationPolicy::kSaliency, LatticeKind::kNested, format);
    expect_no_allocation(FixationPolicy::kNovelty, LatticeKind::kNested, format);
  }
  expect_no_allocation(FixationPolicy::kRandom, LatticeKind::kGrid, TextureFormat::kYuv8);
  expect_no_allocation(FixationPolicy::kRaster, LatticeKind::kUniform, TextureFormat::kYuv8);
}

}  // namespace
}  // namespace saccade
