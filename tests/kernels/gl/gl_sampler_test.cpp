// Foveated samples of the GL backend against the CPU's.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cpu/differ.h"
#include "kernels/gl/texture.h"
#include "tests/kernels/comparison.h"
#include "tests/kernels/random_plan.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

using test::expect_close;
using test::random_plan;
using testing::GlTest;
using testing::HostFrame;

constexpr unsigned kSeed = 4711;
constexpr GlTextureConfig config(GlWork work) { return {work, UploadPath::kDirect, UploadCost{1e-3, 1.0}, {}}; }

struct Pair {
  GlTexture on_gl;
  CpuPyramid on_cpu;
  ColorSpec color;
  Pair(gl::Context& context, PixelLayout pixels, int width, int height, GlWork work = GlWork::kCompute)
      : on_gl(context, make_pyramid_layout(width, height, texture_format(pixels)), config(work)),
        on_cpu(make_pyramid_layout(width, height, texture_format(pixels))) {
    std::mt19937 random(kSeed);
    HostFrame frame(pixels, width, height);
    frame.randomize(random);
    show(frame);
    color = frame.view().color;
  }
  void show(const HostFrame& frame) {
    Damage damage(on_cpu.layout().tiles);
    damage.set_all();
    on_gl.upload(frame.view(), damage);
    on_gl.refresh_mips(damage);
    on_cpu.upload(frame.view(), damage);
    on_cpu.refresh_mips(damage);
  }
};

class GlFloatSamples : public GlTest {};

TEST_F(GlFloatSamples, SmallFrame_NormalizesFloatsAsTheCpu) {
  Pair pair(context(), PixelLayout::kI420, 200, 150);
  std::mt19937 random(kSeed);
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 21, 16, false, random);
  for (const SampleType type : {SampleType::kF32, SampleType::kF16}) {
    const SampleFormat format{type, {0.48f, 0.45f, 0.40f}, {3.7f, 3.8f, 3.6f}};
    PatchBatch gl_batch(plan.count(), 16, format);
    PatchBatch cpu_batch(plan.count(), 16, format);
    pair.on_gl.sample(plan, pair.color, gl_batch);
    pair.on_cpu.sample(plan, pair.color, cpu_batch);
    // f32: 2e-5 for values up to 2.16, to which the bound is relative. f16: an ulp below 2 is 2^-10.
    expect_close(cpu_batch, gl_batch, type == SampleType::kF32 ? 2e-5 / 2.16 : 2.5e-3, name(type));
  }
}

class GlSampleOrder : public GlTest, public ::testing::WithParamInterface<GlWork> {};
INSTANTIATE_TEST_SUITE_P(Work, GlSampleOrder, ::testing::Values(GlWork::kCompute, GlWork::kHost), testing::work_name);

TEST_P(GlSampleOrder, SubmittedBatches_ComeInOrderFramesLater) {
  Pair pair(context(), PixelLayout::kI420, 160, 120, GetParam());
  std::mt19937 random(kSeed);
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 9, 16, true, random);
  HostFrame frame(PixelLayout::kI420, 160, 120);
  std::vector<PatchBatch> expected;
  PatchBatch batch(plan.count(), 16, {});
  for (int n = 0; n < GlSampler::kSlots; ++n) {
    frame.randomize(random);
    pair.show(frame);
    ASSERT_TRUE(pair.on_gl.submit_samples(plan, pair.color, {}));
    expected.emplace_back(plan.count(), 16, SampleFormat{});
    pair.on_cpu.sample(plan, pair.color, expected.back());
  }
  EXPECT_FALSE(pair.on_gl.submit_samples(plan, pair.color, {})) << "all slots are under way";
  EXPECT_THROW(pair.on_gl.sample(plan, pair.color, batch), std::logic_error);
  for (const PatchBatch& want : expected) {
    ASSERT_TRUE(pair.on_gl.collect_samples(batch, true));
    expect_close(want, batch, 1.0, "batch in order");
  }
  EXPECT_EQ(pair.on_gl.samples_pending(), 0);
  EXPECT_FALSE(pair.on_gl.collect_samples(batch, true));
}

TEST_P(GlSampleOrder, BatchOfAnotherShape_IsRefused) {
  Pair pair(context(), PixelLayout::kI420, 64, 64, GetParam());
  std::mt19937 random(kSeed);
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 4, 16, true, random);
  PatchBatch batch(3, 16, {});
  EXPECT_THROW(pair.on_gl.sample(plan, pair.color, batch), std::invalid_argument);
  EXPECT_EQ(pair.on_gl.samples_pending(), 0);
}

}  // namespace
}  // namespace saccade
