// The pyramid is exact: each level is the true mean, however the texture came to be what it is.
#include "kernels/cpu/pyramid.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "kernels/cpu/tile_differ.h"
#include "tests/kernels/pyramid_truth.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

struct Size {
  int width, height;
};
constexpr std::array kSizes{Size{1, 1},   Size{2, 2},     Size{15, 17},  Size{64, 64},
                            Size{65, 63}, Size{161, 121}, Size{257, 131}};

std::string describe(PixelLayout layout, Size size, int levels, unsigned seed) {
  return fmt::format("{} {}x{} levels {} seed {}", name(layout), size.width, size.height, levels, seed);
}

TEST(CpuPyramid, LevelsAreTrueMeans) {
  unsigned seed = 1;
  for (const PixelLayout layout : kLayouts) {
    for (const Size size : kSizes) {
      for (const int levels : {1, 3, 7, 9}) {
        SCOPED_TRACE(describe(layout, size, levels, ++seed));
        std::mt19937 rng(seed);
        TestFrame frame(layout, size.width, size.height, usual_shift(layout), seed % 2 == 0);
        frame.randomize(rng);
        CpuPyramid pyramid(make_pyramid_layout(size.width, size.height, texture_format(layout), levels));
        Damage all(pyramid.layout().tiles);
        all.set_all();
        EXPECT_EQ(pyramid.upload(frame.view(), all), pyramid.layout().level0_bytes());
        pyramid.refresh_mips(all);
        ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(pyramid, frame));
      }
    }
  }
}

TEST(CpuPyramid, TwelveLevelsOfATinyAndAnOddFrame) {
  for (const PixelLayout layout : {PixelLayout::kI420, PixelLayout::kP016}) {
    for (const Size size : {Size{1, 1}, Size{2047, 65}}) {
      SCOPED_TRACE(describe(layout, size, 12, 7));
      std::mt19937 rng(7);
      TestFrame frame(layout, size.width, size.height);
      frame.randomize(rng);
      CpuPyramid pyramid(make_pyramid_layout(size.width, size.height, texture_format(layout), 12));
      Damage all(pyramid.layout().tiles);
      all.set_all();
      pyramid.upload(frame.view(), all);
      pyramid.refresh_mips(all);
      ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(pyramid, frame));
    }
  }
}

// 16-bit white: sums at coarse levels need more than 32 bits.
TEST(CpuPyramid, WhiteStaysWhite) {
  TestFrame frame(PixelLayout::kP016, 300, 200);
  frame.for_each_sample([&](int p, int x, int y, int c) { frame.set(p, x, y, c, 65535); });
  CpuPyramid pyramid(make_pyramid_layout(300, 200, TextureFormat::kYuv16, 11));
  Damage all(pyramid.layout().tiles);
  all.set_all();
  pyramid.upload(frame.view(), all);
  pyramid.refresh_mips(all);
  for (int plane = 0; plane < 2; ++plane) {
    LevelImage top;
    pyramid.read_level(plane, plane == 0 ? 10 : 9, top);
    for (const std::uint8_t byte : top.data) EXPECT_EQ(byte, 255);
  }
}

TEST(CpuPyramid, FullHd) {
  std::mt19937 rng(3);
  TestFrame frame(PixelLayout::kI420, 1920, 1080);
  frame.randomize(rng);
  CpuPyramid pyramid(make_pyramid_layout(1920, 1080, TextureFormat::kYuv8));
  Damage all(pyramid.layout().tiles);
  all.set_all();
  pyramid.upload(frame.view(), all);
  pyramid.refresh_mips(all);
  expect_true_pyramid(pyramid, frame);
}

void change_something(TestFrame& frame, std::mt19937& rng) {
  const int width = frame.view().width_px;
  const int height = frame.view().height_px;
  std::uniform_int_distribution<int> rectangles(0, 3);
  for (int n = rectangles(rng); n > 0; --n) {
    std::uniform_int_distribution<int> left(0, width - 1);
    std::uniform_int_distribution<int> top(0, height - 1);
    std::uniform_int_distribution<int> side(1, 40);
    const int x = left(rng);
    const int y = top(rng);
    frame.randomize(rng, x, y, std::min(x + side(rng), width), std::min(y + side(rng), height));
  }
}

// Diff, upload and refresh of what changed keep the texture equal to one built from the frame alone.
TEST(CpuPyramid, IncrementalEqualsRebuild) {
  unsigned seed = 100;
  for (const PixelLayout layout : kLayouts) {
    for (const Size size : kSizes) {
      for (const int levels : {1, 4, 5, 7, 9}) {
        SCOPED_TRACE(describe(layout, size, levels, ++seed));
        std::mt19937 rng(seed);
        TestFrame frame(layout, size.width, size.height, usual_shift(layout));
        frame.randomize(rng);
        CpuPyramid pyramid(make_pyramid_layout(size.width, size.height, texture_format(layout), levels));
        CpuTileDiffer differ(pyramid, {});
        for (int step = 0; step < 5; ++step) {
          const Damage& damage = differ.diff(frame.view());
          pyramid.upload(frame.view(), damage);
          pyramid.refresh_mips(damage);
          if (step % 2 == 0) {
            ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(pyramid, frame)) << "step " << step;
          }
          change_something(frame, rng);
        }
      }
    }
  }
}

TEST(CpuPyramid, SaysWhatDoesNotFit) {
  CpuPyramid pyramid(make_pyramid_layout(64, 48, TextureFormat::kYuv8));
  Damage damage(pyramid.layout().tiles);
  TestFrame other_size(PixelLayout::kI420, 64, 47);
  TestFrame other_format(PixelLayout::kRgba8, 64, 48);
  EXPECT_THROW(pyramid.upload(other_size.view(), damage), std::invalid_argument);
  EXPECT_THROW(pyramid.upload(other_format.view(), damage), std::invalid_argument);
  TestFrame frame(PixelLayout::kNv12, 64, 48);
  FrameView on_gpu = frame.view();
  on_gpu.space = MemorySpace::kCuda;
  EXPECT_THROW(pyramid.upload(on_gpu, damage), std::invalid_argument);
  EXPECT_THROW(pyramid.upload(frame.view(), Damage({1, 1})), std::invalid_argument);
  LevelImage image;
  EXPECT_THROW(pyramid.read_level(0, 7, image), std::out_of_range);
  EXPECT_THROW(pyramid.read_level(1, 6, image), std::out_of_range);
  EXPECT_THROW(pyramid.read_level(2, 0, image), std::out_of_range);
  EXPECT_THROW(pyramid.read_level(0, -1, image), std::out_of_range);
  PatchPlan plan;
  plan.patches.resize(2);
  PatchBatch batch(3, 16, {});
  EXPECT_THROW(pyramid.sample(plan, {}, batch), std::invalid_argument);
}

}  // namespace
}  // namespace saccade::test
