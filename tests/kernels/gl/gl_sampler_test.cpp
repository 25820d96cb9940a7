// Foveated samples of the GL backend against the CPU's.
#include <gtest/gtest.h>

#include <random>

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
constexpr GlTextureConfig kConfig{GlWork::kCompute, UploadPath::kDirect, UploadCost{1e-3, 1.0}, {}};

struct Pair {
  GlTexture on_gl;
  CpuPyramid on_cpu;
  ColorSpec color;
  Pair(gl::Context& context, PixelLayout pixels, int width, int height)
      : on_gl(context, make_pyramid_layout(width, height, texture_format(pixels)), kConfig),
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

}  // namespace
}  // namespace saccade
