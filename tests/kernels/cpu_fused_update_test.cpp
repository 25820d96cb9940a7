// One pass over a frame gives what diff, upload and refresh_mips give in turn, bit for bit.
#include "kernels/cpu/fused_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "tests/kernels/pyramid_truth.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

void expect_same(const CpuPyramid& a, const CpuPyramid& b) {
  LevelImage left, right;
  for (int p = 0; p < a.layout().plane_count; ++p) {
    for (int l = 0; l < a.layout().planes[static_cast<std::size_t>(p)].levels; ++l) {
      a.read_level(p, l, left);
      b.read_level(p, l, right);
      ASSERT_EQ(left.data, right.data) << "plane " << p << " level " << l;
    }
  }
}

void expect_same(const Damage& a, const Damage& b) {
  ASSERT_EQ(a.count(), b.count());
  for (int t = 0; t < a.grid().count(); ++t) {
    ASSERT_EQ(a.test(t), b.test(t)) << "tile " << t;
    ASSERT_EQ(a.energy()[static_cast<std::size_t>(t)], b.energy()[static_cast<std::size_t>(t)]) << "tile " << t;
  }
}

// Small and large changes in a few rectangles, or none, or everywhere.
void change(TestFrame& frame, std::mt19937& rng) {
  const int width = frame.view().width_px;
  const int height = frame.view().height_px;
  for (auto n = rng() % 4; n > 0; --n) {
    const int x = static_cast<int>(rng() % static_cast<unsigned>(width));
    const int y = static_cast<int>(rng() % static_cast<unsigned>(height));
    const int w = 1 + static_cast<int>(rng() % 150);
    const int h = 1 + static_cast<int>(rng() % 40);
    frame.randomize(rng, x, y, std::min(x + w, width), std::min(y + h, height));
  }
  if (rng() % 8 == 0) frame.randomize(rng);
}

TEST(CpuFusedUpdate, EqualsTheStages) {
  unsigned seed = 1;
  for (const PixelLayout layout : kLayouts) {
    for (const auto& [width, height] : {std::pair{1, 1}, {15, 17}, {65, 63}, {161, 121}, {400, 70}}) {
      for (const DiffConfig config : {DiffConfig{0, 0, 8}, DiffConfig{3, 0, 0}, DiffConfig{0, 5, 8}}) {
        for (const int levels : {1, 4, 7}) {
          ++seed;
          SCOPED_TRACE(fmt::format("{} {}x{} levels {} threshold {} min_pixels {} seed {}", name(layout), width, height,
                                   levels, config.threshold, config.min_pixels, seed));
          std::mt19937 rng(seed);
          TestFrame frame(layout, width, height, usual_shift(layout), seed % 2 == 0);
          frame.randomize(rng);
          const PyramidLayout shape = make_pyramid_layout(width, height, texture_format(layout), levels);
          CpuPyramid fused(shape), staged(shape);
          CpuFusedUpdate update(fused, config);
          CpuTileDiffer differ(staged, config);
          for (int step = 0; step < 6; ++step) {
            if (step == 4) {
              update.damage_everything();
              differ.damage_everything();
            }
            const Damage& damage = differ.diff(frame.view());
            const std::int64_t bytes = staged.upload(frame.view(), damage);
            staged.refresh_mips(damage);
            ASSERT_NO_FATAL_FAILURE(expect_same(update.update(frame.view()), damage)) << "step " << step;
            ASSERT_EQ(update.bytes_written(), bytes);
            ASSERT_NO_FATAL_FAILURE(expect_same(fused, staged)) << "step " << step;
            change(frame, rng);
          }
        }
      }
    }
  }
}

// Against the definition, not against other code of ours.
TEST(CpuFusedUpdate, FourK) {
  std::mt19937 rng(4);
  TestFrame frame(PixelLayout::kNv12, 4096, 2160);
  frame.randomize(rng);
  CpuPyramid texture(make_pyramid_layout(4096, 2160, TextureFormat::kYuv8));
  CpuFusedUpdate update(texture, {});
  EXPECT_TRUE(update.update(frame.view()).all());
  frame.randomize(rng, 4000, 2100, 4096, 2160);
  frame.set(0, 2048, 700, 0, frame.get(0, 2048, 700, 0) ^ 1);
  const Damage& damage = update.update(frame.view());
  EXPECT_EQ(damage.count(), 6 * 4 + 1);  // tiles 250 to 255 of rows 131 to 134, and one
  EXPECT_TRUE(damage.test(128, 43));
  expect_true_pyramid(texture, frame);
}

TEST(CpuFusedUpdate, RefusesOtherFrames) {
  CpuPyramid texture(make_pyramid_layout(50, 40, TextureFormat::kYuv8));
  CpuFusedUpdate update(texture, {});
  const TestFrame small(PixelLayout::kI420, 48, 40);
  EXPECT_THROW(update.update(small.view()), std::invalid_argument);
  FrameView on_card = TestFrame(PixelLayout::kI420, 50, 40).view();
  on_card.space = MemorySpace::kCuda;
  EXPECT_THROW(update.update(on_card), std::invalid_argument);
}

}  // namespace
}  // namespace saccade::test
