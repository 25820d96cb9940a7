// Samples: fetch and lerp against the plain CPU sampler, the texture unit against both.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

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
    cuda_ = std::make_unique<CudaPyramid>(shape);
    Damage all(shape.tiles);
    all.set_all();
    for (Pyramid* pyramid : std::initializer_list<Pyramid*>{cpu_.get(), cuda_.get()}) {
      pyramid->upload(frame_->view(), all);
      pyramid->refresh_mips(all);
    }
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
  std::unique_ptr<CudaPyramid> cuda_;
  ColorSpec color_;
};

TEST_P(CudaSample, FetchAndLerpEqualsCpu) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    prepare(seed % 2 == 0 ? 333 : 640, seed % 2 == 0 ? 217 : 360, seed > 3, seed);
    const int size = seed == 5 ? 7 : 16;
    const PatchPlan plan = random_plan(rng_, frame_->view().width_px, frame_->view().height_px, 7, size, 150);
    const SampleFormat format{SampleType::kF32, {0.48f, 0.45f, 0.40f}, {3.7f, 3.8f, 3.6f}};
    PatchBatch expected(plan.count(), size, format);
    PatchBatch actual(plan.count(), size, format);
    cpu_->sample(plan, color_, expected);
    cuda_->sample(plan, color_, actual);
    const auto a = values<float>(expected);
    const auto b = values<float>(actual);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], 1e-5f * std::max(1.0f, std::abs(a[i])))
          << name(GetParam()) << " seed " << seed << " value " << i;
    }
  }
}

TEST_P(CudaSample, EveryTypeEqualsCpu) {
  prepare(640, 360, true, 11);
  const PatchPlan plan = random_plan(rng_, 640, 360, 7, 16, 100);
  for (const SampleType type : {SampleType::kU8, SampleType::kF16}) {
    PatchBatch expected(plan.count(), 16, {.type = type});
    PatchBatch actual(plan.count(), 16, {.type = type});
    cpu_->sample(plan, color_, expected);
    cuda_->sample(plan, color_, actual);
    EXPECT_TRUE(std::ranges::equal(expected.bytes(), actual.bytes())) << name(type);
  }
}

// Several batches on their way at once, with updates between them: each holds what the texture was when it was asked
// for.
TEST_P(CudaSample, BatchesInFlightEqualCpu) {
  prepare(640, 360, true, 31);
  const PatchPlan plan = random_plan(rng_, 640, 360, 7, 16, 120);
  std::vector<PatchBatch> expected;
  std::vector<PatchBatch> actual;
  for (int n = 0; n < 6; ++n) {
    frame_->randomize(rng_, 0, 0, 640, 360);
    const PlacedFrame placed(frame_->view(), PlacedFrame::Where::kDevice, Rows::kAligned);
    CpuTileDiffer differ(*cpu_, {});
    const Damage& damage = differ.diff(frame_->view());
    cpu_->upload(frame_->view(), damage);
    cpu_->refresh_mips(damage);
    cuda_->update_async(placed.view(), {}, false);
    cuda_->finish_update();
    expected.emplace_back(plan.count(), 16, SampleFormat{});
    cpu_->sample(plan, color_, expected.back());
    actual.push_back(cuda_->make_batch(plan.count(), 16, {}));
    ASSERT_NE(actual.back().memory(), nullptr);
    cuda_->submit(plan, color_, actual.back());
  }
  for (std::size_t n = 0; n < actual.size(); ++n) {
    actual[n].wait();
    EXPECT_TRUE(std::ranges::equal(expected[n].bytes(), actual[n].bytes())) << n;
  }
}

// The texture unit's weights have 8 bits: positions are off by up to 1/512 texel on each axis. Between texels 255 apart
// that is half a code an axis, in luma and, times up to 2.1, in chroma: noise may differ by 3.3 codes, pictures do not.
TEST_P(CudaSample, HardwareIsWithinTwoCodes) {
  for (const bool noise : {false, true}) {
    prepare(640, 360, noise, 21);
    const PatchPlan plan = random_plan(rng_, 640, 360, 7, 16, 200);
    PatchBatch expected(plan.count(), 16, {.type = SampleType::kF32});
    PatchBatch actual(plan.count(), 16, {.type = SampleType::kF32});
    cpu_->sample(plan, color_, expected);
    cuda_->set_sampling(CudaPyramid::Sampling::kHardware);
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

TEST_P(CudaSample, RefusesABatchOfAnotherShape) {
  prepare(64, 64, true, 31);
  const PatchPlan plan = random_plan(rng_, 64, 64, 7, 16, 4);
  PatchBatch batch(5, 16, {});
  EXPECT_THROW(cuda_->sample(plan, color_, batch), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CudaSample, ::testing::ValuesIn(kLayouts),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace saccade::test
