// Lattice adaptive in the pipeline: what is kept across settings, and what forgets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "kernels/held_picture.h"
#include "pipeline/error.h"
#include "pipeline/gaze/allocate/allocator.h"
#include "pipeline/run/pipeline.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

PipelineConfig adaptive(int tokens) {
  PipelineConfig config;
  config.lattice.shape = AdaptiveShape{.tokens = tokens};
  config.emit.kind = EmitPolicy::Kind::kFrames;
  config.scanpath.policy = FixationPolicy::kCenter;
  return config;
}

TestFrame noise() {
  std::mt19937 rng(1);
  TestFrame frame(PixelLayout::kI420, 128, 64);
  frame.randomize(rng);
  return frame;
}

// Centre and level of each patch that is sent.
std::vector<std::array<float, 3>> patches_sent(Pipeline& pipeline, const TestFrame& frame, std::int64_t pts_ns) {
  Emission emission;
  FrameView view = frame.view();
  view.pts_ns = pts_ns;
  pipeline.prepare(view);
  EXPECT_TRUE(pipeline.step(view, emission).emitted);
  std::vector<std::array<float, 3>> out;
  for (const Patch& patch : emission.plan.patches) {
    if (patch.coverage > 0) out.push_back({patch.x_px, patch.y_px, patch.lod});
  }
  return out;
}

std::size_t sent(Pipeline& pipeline, const TestFrame& frame, std::int64_t pts_ns) {
  return patches_sent(pipeline, frame, pts_ns).size();
}

TEST(AdaptivePipeline, StillFrame_IsSentOnceUntilItIsForgotten) {
  const TestFrame frame = noise();
  Pipeline pipeline(adaptive(100));
  EXPECT_EQ(sent(pipeline, frame, 0), 32);  // 8 x 4 tiles of noise: no mean shows them
  EXPECT_EQ(sent(pipeline, frame, 1), 0);
  pipeline.forget({.left = 0.5f, .top = 0, .right = 1, .bottom = 0.25f});
  EXPECT_EQ(sent(pipeline, frame, 2), 4);
  pipeline.reset();  // a seek: another picture
  EXPECT_EQ(sent(pipeline, frame, 3), 32);
  EXPECT_EQ(sent(pipeline, frame, 2), 32);  // a time that goes back
  EXPECT_EQ(sent(pipeline, frame, 3), 0);
}

// Before the seek half of the picture changed, at a later time. After it that half is not fresh.
TEST(AdaptivePipeline, AfterASeek_LooksAreThoseOfANewPipeline) {
  TestFrame first = noise();
  std::mt19937 rng(2);
  TestFrame half = first;
  half.randomize(rng, 64, 0, 128, 64);
  Pipeline fresh(adaptive(8)), seeked(adaptive(8));
  sent(seeked, first, 100'000'000'000);
  sent(seeked, half, 101'000'000'000);
  seeked.reset();
  for (std::int64_t look = 0; look < 3; ++look) {
    EXPECT_EQ(patches_sent(seeked, half, look), patches_sent(fresh, half, look)) << look;
  }
}

// A person moves the budget's slider: the receiver keeps what it has.
TEST(AdaptivePipeline, AnotherBudget_KeepsWhatIsHeld) {
  const TestFrame frame = noise();
  PipelineConfig config = adaptive(12);
  Pipeline pipeline(config);
  const auto first = patches_sent(pipeline, frame, 0);
  EXPECT_EQ(first.size(), 12U);
  const auto fine = std::count_if(first.begin(), first.end(), [](const auto& patch) { return patch[2] == 0; });
  EXPECT_GT(fine, 0);
  config.lattice.shape = AdaptiveShape{.tokens = 100, .tokens_per_second = 100'000, .eye = 0.5};
  EXPECT_TRUE(pipeline.configure(config).lattice);
  EXPECT_EQ(sent(pipeline, frame, 1'000'000'000), 32U - static_cast<std::size_t>(fine));
  config.lattice.shape = AdaptiveShape{.tokens = 100, .context = ContextLength{.value = 100}};
  pipeline.configure(config);
  EXPECT_EQ(sent(pipeline, frame, 2'000'000'000), 0);  // what came before a context is not forgotten by it
  config.lattice.shape = AdaptiveShape{.tokens = 100, .target_psnr = 90};
  pipeline.configure(config);  // errors are measured by squares: all begins again
  EXPECT_EQ(sent(pipeline, frame, 3'000'000'000), 32);
}

TEST(AdaptivePipeline, Psnr_IsOfWhatIsHeld) {
  PipelineConfig config = adaptive(1);
  config.measure_held = true;
  Pipeline pipeline(config), unmeasured(adaptive(1));
  std::mt19937 rng(3);
  TestFrame frame(PixelLayout::kI420, 128, 64);
  frame.randomize(rng, 0, 0, 16, 16);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 64; ++x) {
      for (const int channel : {0, 1}) frame.set(1, x, y, channel, 128);
    }
  }
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 128; ++x) {
      if (x >= 16 || y >= 16) frame.set(0, x, y, 0, x >= 112 && y >= 48 ? 138 : 128);
    }
  }
  sent(pipeline, frame, 0);  // the noise
  sent(unmeasured, frame, 0);
  EXPECT_EQ(pipeline.allocator()->sent(), 1);
  EXPECT_EQ(pipeline.allocator()->came_by()[0], 0);
  EXPECT_LT(pipeline.allocator()->came_by()[31], 0);
  const double error = 16 * 16 * 10.0 * 10.0;
  EXPECT_NEAR(*pipeline.allocator()->psnr_db(), 10 * std::log10(219.0 * 219 * 128 * 64 / error), 1e-9);
  EXPECT_EQ(unmeasured.allocator()->psnr_db(), std::nullopt);
  sent(pipeline, frame, 1'000'000'000);
  EXPECT_EQ(*pipeline.allocator()->psnr_db(), std::numeric_limits<double>::infinity());
}

TEST(AdaptivePipeline, OtherLattices_HaveNothingToForget) {
  Pipeline pipeline(PipelineConfig{});
  EXPECT_THROW(pipeline.forget({}), UsageError);
  Pipeline second(adaptive(10));
  EXPECT_THROW(second.forget({.left = 0.5f, .top = 0, .right = 0.5f, .bottom = 1}), UsageError);
}

TEST(AdaptivePipeline, PatchesOfAnotherSize_AreRefused) {
  PipelineConfig config = adaptive(10);
  config.lattice.patch_size = 8;
  Pipeline pipeline(config);
  EXPECT_THROW(pipeline.prepare(noise().view()), UsageError);
}

}  // namespace
}  // namespace saccade::test
