// Samples: fetch and lerp against the plain CPU sampler, the texture unit against both.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/cuda/texture_queue.h"
#include "tests/kernels/cuda/cuda_fixture.h"

namespace saccade::test {
namespace {

PatchPlan random_plan(std::mt19937& rng, int width, int height, int levels, int size, int count) {
  std::uniform_real_distribution<float> x(-20.0f, static_cast<float>(width) + 20.0f);
  std::uniform_real_distribution<float> y(-20.0f, static_cast<float>(height) + 20.0f);
  std::uniform_real_distribution<float> lod(0.0f, static_cast<float>(levels - 1));
  PatchPlan plan;
  plan.patch_size = size;
  for (int n = 0; n < count; ++n) {
    Patch patch{x(rng), y(rng), lod(rng), 0};
    if (n % 3 == 0) patch.lod = std::floor(patch.lod);
    if (n % 5 == 0) patch.x_px = -1e6f;  // wholly outside
    patch.coverage = patch_coverage(patch, size, width, height);
    plan.patches.push_back(patch);
  }
  return plan;
}

// Smooth content: what the texture unit's 8-bit weights are for.
void paint_waves(TestFrame& frame) {
  frame.for_each_sample([&](int p, int x, int y, int c) {
    const double wave = std::sin(0.11 * x + 0.05 * y + p + c) * std::cos(0.07 * y - 0.02 * x);
    frame.set(p, x, y, c, static_cast<int>((0.5 + 0.45 * wave) * frame.max_code()));
  });
}

class CudaSample : public CudaTest, public ::testing::WithParamInterface<PixelLayout> {
 protected:
  void prepare(int width, int height, bool noise, unsigned seed) {
    rng_.seed(seed);
    frame_ = std::make_unique<TestFrame>(GetParam(), width, height, usual_shift(GetParam()));
    paint_waves(*frame_);
    if (noise) frame_->randomize(rng_);
    const PyramidLayout shape = make_pyramid_layout(width, height, texture_format(GetParam()));
    cpu_ = std::make_unique<CpuPyramid>(shape, plain_ops());
    cuda_ = std::make_unique<CudaTexture>(shape);
    Damage all(shape.tiles);
    all.set_all();
    cpu_->upload(frame_->view(), all);
    cpu_->refresh_mips(all);
    cuda_->upload(frame_->view(), all);
    cuda_->refresh_mips(all);
    cuda_->diff(frame_->view());  // the first one damages everything
    color_.depth_bits = is_wide(GetParam()) ? 10 : 8;
    color_.matrix = seed % 2 == 0 ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
    color_.range = seed % 3 == 0 ? ColorRange::kFull : ColorRange::kLimited;
  }

  template <typename T>
  static std::span<const T> values(const PatchBatch& batch) {
    return {reinterpret_cast<const T*>(batch.bytes().data()), batch.bytes().size() / sizeof(T)};
  }

  std::mt19937 rng_;
  std::unique_ptr<TestFrame> frame_;
  std::unique_ptr<CpuPyramid> cpu_;
  std::unique_ptr<CudaTexture> cuda_;
  ColorSpec color_;
};

// The texture unit's weights have 8 bits: positions are off by up to 1/512 texel on each axis. Between texels 255 apart
// that is half a code an axis, in luma and, times up to 2.1, in chroma: noise may differ by 3.3 codes, pictures do not.
TEST_P(CudaSample, Hardware_IsWithinTwoCodes) {
  for (const bool noise : {false, true}) {
    prepare(640, 360, noise, 21);
    const PatchPlan plan = random_plan(rng_, 640, 360, 7, 16, 200);
    PatchBatch expected(plan.count(), 16, {.type = SampleType::kF32});
    PatchBatch actual(plan.count(), 16, {.type = SampleType::kF32});
    cpu_->sample(plan, color_, expected);
    CudaTextureQueue(*cuda_).use_texture_unit();
    cuda_->sample(plan, color_, actual);
    const auto a = values<float>(expected);
    const auto b = values<float>(actual);
    float worst = 0;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      worst = std::max(worst, std::abs(a[i] - b[i]));
      sum += std::abs(a[i] - b[i]);
    }
    RecordProperty(noise ? "worst_noise" : "worst_smooth", fmt::format("{:.3f}", worst * 255));
    EXPECT_LE(worst * 255, noise ? 3.3f : 2.0f) << name(GetParam()) << (noise ? " noise" : " smooth");
    EXPECT_LE(sum / static_cast<double>(a.size()) * 255, 0.35) << name(GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, CudaSample, ::testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace saccade::test
