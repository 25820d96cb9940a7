// Foveated samples of the GL backend against the CPU's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/differ.h"
#include "kernels/gl/texture.h"
#include "tests/kernels/comparison.h"
#include "tests/support/gl_fixture.h"

namespace saccade {
namespace {

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

// Centres in and around the image, whole and broken lods, coverage by the definition.
PatchPlan random_plan(const PyramidLayout& layout, std::size_t count, int patch_size, bool whole_lods) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  PatchPlan plan;
  plan.patch_size = patch_size;
  for (std::size_t n = 0; n < count; ++n) {
    Patch patch;
    patch.x_px = (unit(random) * 1.4f - 0.2f) * static_cast<float>(layout.width_px);
    patch.y_px = (unit(random) * 1.4f - 0.2f) * static_cast<float>(layout.height_px);
    patch.lod = unit(random) * static_cast<float>(layout.levels - 1);
    if (whole_lods || n % 4 == 0) patch.lod = std::round(patch.lod);
    if (n % 5 == 0) patch.x_px = std::round(patch.x_px);
    patch.coverage = patch_coverage(patch, patch_size, layout.width_px, layout.height_px);
    plan.patches.push_back(patch);
  }
  return plan;
}

void expect_close(const PatchBatch& a, const PatchBatch& b, double most) {
  const std::size_t samples = a.bytes().size() / size_bytes(a.format().type);
  ASSERT_EQ(a.bytes().size(), b.bytes().size());
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double difference = std::abs(test::sample_value(a, i) - test::sample_value(b, i));
    if (!(difference <= worst)) {
      worst = difference;
      at = i;
    }
  }
  EXPECT_LE(worst, most) << "sample " << at << " of " << samples << ": " << test::sample_value(a, at) << " and "
                         << test::sample_value(b, at);
}

class GlFloatSamples : public GlTest {};

TEST_F(GlFloatSamples, SmallFrame_NormalizesFloatsAsTheCpu) {
  Pair pair(context(), PixelLayout::kI420, 200, 150);
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 21, 16, false);
  for (const SampleType type : {SampleType::kF32, SampleType::kF16}) {
    const SampleFormat format{type, {0.48f, 0.45f, 0.40f}, {3.7f, 3.8f, 3.6f}};
    PatchBatch gl_batch(plan.count(), 16, format);
    PatchBatch cpu_batch(plan.count(), 16, format);
    pair.on_gl.sample(plan, pair.color, gl_batch);
    pair.on_cpu.sample(plan, pair.color, cpu_batch);
    expect_close(gl_batch, cpu_batch, type == SampleType::kF32 ? 2e-5 : 2.5e-3);  // f16: an ulp below 2 is 2^-10
  }
}

class GlSampleOrder : public GlTest, public ::testing::WithParamInterface<GlWork> {};
INSTANTIATE_TEST_SUITE_P(Work, GlSampleOrder, ::testing::Values(GlWork::kCompute, GlWork::kHost), testing::work_name);

TEST_P(GlSampleOrder, SubmittedBatches_ComeInOrderFramesLater) {
  Pair pair(context(), PixelLayout::kI420, 160, 120, GetParam());
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 9, 16, true);
  std::mt19937 random(kSeed + 1);
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
    expect_close(batch, want, 1.0);
  }
  EXPECT_EQ(pair.on_gl.samples_pending(), 0);
  EXPECT_FALSE(pair.on_gl.collect_samples(batch, true));
}

TEST_P(GlSampleOrder, BatchOfAnotherShape_IsRefused) {
  Pair pair(context(), PixelLayout::kI420, 64, 64, GetParam());
  const PatchPlan plan = random_plan(pair.on_cpu.layout(), 4, 16, true);
  PatchBatch batch(3, 16, {});
  EXPECT_THROW(pair.on_gl.sample(plan, pair.color, batch), std::invalid_argument);
  EXPECT_EQ(pair.on_gl.samples_pending(), 0);
}

}  // namespace
}  // namespace saccade
