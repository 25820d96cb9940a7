// The per-frame path allocates nothing: every form of operator new is counted.
#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/texture.h"
#include "tests/kernels/test_frame.h"
#include "tests/support/allocation_counter.h"

namespace saccade::test {
namespace {

TEST(CpuAllocation, Counter_Counts) {
  const long before = allocation_count();
  std::vector<int> some(100);
  EXPECT_EQ(allocation_count(), before + 1) << some.size();
}

TEST(CpuAllocation, PerFrame_IsNone) {
  for (const PixelLayout layout : kLayouts) {
    SCOPED_TRACE(name(layout));
    std::mt19937 rng(1);
    TestFrame frame(layout, 200, 150, usual_shift(layout));
    frame.randomize(rng);
    CpuPyramid pyramid(make_pyramid_layout(200, 150, texture_format(layout)));
    CpuTileDiffer differ(pyramid, {});
    CpuTexture fused(pyramid.layout());
    PatchPlan plan;
    plan.patches = {{50, 50, 0, 1}, {100, 75, 2.5f, 1}, {190, 140, 6, 0.3f}};
    PatchBatch batch(3, 16, {});
    std::vector<TileRect> rects;
    rects.reserve(static_cast<std::size_t>(pyramid.layout().tiles.count()));
    const long before = allocation_count();
    for (int step = 0; step < 6; ++step) {
      const Damage& damage = differ.diff(frame.view());
      damage.rects(rects);
      pyramid.upload(frame.view(), damage);
      pyramid.refresh_mips(damage);
      pyramid.sample(plan, frame.view().color, batch);
      fused.update(frame.view());
      if (step == 3) differ.damage_everything();
      if (step == 3) fused.damage_everything();
      frame.randomize(rng, 30 * step, 20, 30 * step + 20, 60);
    }
    EXPECT_EQ(allocation_count(), before);
  }
}

}  // namespace
}  // namespace saccade::test
