// The CPU's levels by themselves; backend_suite.h has what they promise as a texture.
#include "kernels/cpu/pyramid.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "tests/kernels/pyramid_truth.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

struct Size {
  int width, height;
};

std::string describe(PixelLayout layout, Size size, int levels, unsigned seed) {
  return fmt::format("{} {}x{} levels {} seed {}", name(layout), size.width, size.height, levels, seed);
}

TEST(CpuPyramid, TwelveLevels_AreTrueForTinyAndOddFrames) {
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

TEST(CpuPyramid, WhatDoesNotFit_IsRefused) {
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
