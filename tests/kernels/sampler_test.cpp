// Samples against an independent trilinear reading in double precision, and the corner cases by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/cpu/pyramid.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

// One channel of one level as doubles; indices clamp.
struct Channel {
  const LevelImage* image;
  int channel;
  double at(int x, int y) const {
    const int u = std::clamp(x, 0, image->width - 1);
    const int v = std::clamp(y, 0, image->height - 1);
    const auto i = static_cast<std::size_t>((v * image->width + u) * image->channels + channel);
    return image->bytes_per_channel == 1 ? image->data[i] : image->data[2 * i] + 256.0 * image->data[2 * i + 1];
  }
  // (x, y) in units of this level's texels, origin at the corner of the first.
  double bilinear(double x, double y) const {
    double value = 0;
    const double left = std::floor(x - 0.5);
    const double top = std::floor(y - 0.5);
    for (int dy = 0; dy < 2; ++dy) {
      for (int dx = 0; dx < 2; ++dx) {
        const double weight = (1 - std::abs(x - 0.5 - left - dx)) * (1 - std::abs(y - 0.5 - top - dy));
        value += weight * at(static_cast<int>(left) + dx, static_cast<int>(top) + dy);
      }
    }
    return value;
  }
};

struct Truth {
  std::array<std::vector<LevelImage>, 2> levels;

  explicit Truth(const Levels& pyramid) {
    for (int p = 0; p < pyramid.layout().plane_count; ++p) {
      auto& plane = levels[static_cast<std::size_t>(p)];
      plane.resize(static_cast<std::size_t>(pyramid.layout().planes[static_cast<std::size_t>(p)].levels));
      for (std::size_t l = 0; l < plane.size(); ++l) pyramid.read_level(p, static_cast<int>(l), plane[l]);
    }
  }
  // (x, y) in texels of the plane's level 0.
  double trilinear(std::size_t plane, int channel, double x, double y, double lod) const {
    const auto fine = static_cast<std::size_t>(std::floor(lod));
    const auto coarse = std::min(fine + 1, levels[plane].size() - 1);
    const double fraction = lod - static_cast<double>(fine);
    const double a = Channel{&levels[plane][fine], channel}.bilinear(std::ldexp(x, -static_cast<int>(fine)),
                                                                     std::ldexp(y, -static_cast<int>(fine)));
    const double b = Channel{&levels[plane][coarse], channel}.bilinear(std::ldexp(x, -static_cast<int>(coarse)),
                                                                       std::ldexp(y, -static_cast<int>(coarse)));
    return a * (1 - fraction) + b * fraction;
  }
};

// BT.709 limited range, 8 bits, written out (BT.709-6 items 3.2 to 3.5): R' = Y' + 1.5748 Cr and so on.
std::array<double, 3> bt709(double y, double cb, double cr) {
  y = (y - 16) / 219;
  cb = (cb - 128) / 224;
  cr = (cr - 128) / 224;
  const std::array<double, 3> rgb{y + 1.5748 * cr, y - (0.0722 * 1.8556 * cb + 0.2126 * 1.5748 * cr) / 0.7152,
                                  y + 1.8556 * cb};
  return {std::clamp(rgb[0], 0.0, 1.0), std::clamp(rgb[1], 0.0, 1.0), std::clamp(rgb[2], 0.0, 1.0)};
}

std::array<double, 3> true_sample(const Truth& truth, TextureFormat format, const ColorSpec& color, double x, double y,
                                  double lod) {
  if (format == TextureFormat::kRgba8) {
    return {truth.trilinear(0, 0, x, y, lod) / 255, truth.trilinear(0, 1, x, y, lod) / 255,
            truth.trilinear(0, 2, x, y, lod) / 255};
  }
  const double code =
      format == TextureFormat::kYuv16 ? 256 : 1;  // 10-bit limited range is 4 times 8-bit, aligned: 256 times
  const double u = x / 2 + static_cast<double>(color.site_shift_x);
  const double v = y / 2 + static_cast<double>(color.site_shift_y);
  const double chroma_lod = std::max(lod - 1, 0.0);
  return bt709(truth.trilinear(0, 0, x, y, lod) / code, truth.trilinear(1, 0, u, v, chroma_lod) / code,
               truth.trilinear(1, 1, u, v, chroma_lod) / code);
}

float batch_value(const PatchBatch& batch, std::size_t n, int channel, int j, int i) {
  const int s = batch.patch_size();
  float value = 0;
  std::memcpy(&value, batch.patch(n).data() + 4 * ((channel * s + j) * s + i), 4);
  return value;
}

// Smooth enough that a wrong position by a tenth of a texel is seen, with noise on top.
void draw(TestFrame& frame, std::mt19937& rng) {
  std::uniform_int_distribution<int> noise(-20, 20);
  frame.for_each_sample([&](int p, int x, int y, int c) {
    const double wave = std::sin(x * 0.21 + p) * std::cos(y * 0.17 + c) * 70 + 125 + noise(rng);
    frame.set(p, x, y, c, static_cast<int>(wave * (frame.max_code() + 1) / 256));
  });
}

PatchPlan random_plan(std::mt19937& rng, int width, int height, int levels, int size, bool integer_lod) {
  std::uniform_real_distribution<float> u(-0.2f, 1.2f);
  std::uniform_real_distribution<float> lod(0.0f, static_cast<float>(levels - 1));
  PatchPlan plan;
  plan.patch_size = size;
  for (int n = 0; n < 24; ++n) {
    Patch patch{u(rng) * static_cast<float>(width), u(rng) * static_cast<float>(height), lod(rng), 1.0f};
    if (integer_lod) patch.lod = std::floor(patch.lod);
    plan.patches.push_back(patch);
  }
  plan.patches[0].lod = static_cast<float>(levels - 1);
  plan.patches[1].lod = 0;
  return plan;
}

void expect_true_samples(const CpuPyramid& pyramid, const Truth& truth, const PatchPlan& plan, const ColorSpec& color,
                         const PatchBatch& batch) {
  const int s = plan.patch_size;
  double worst = 0;
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    const double pitch = std::exp2(static_cast<double>(patch.lod));
    for (int j = 0; j < s; ++j) {
      for (int i = 0; i < s; ++i) {
        const double x = static_cast<double>(patch.x_px) + (i - (s - 1) * 0.5) * pitch;
        const double y = static_cast<double>(patch.y_px) + (j - (s - 1) * 0.5) * pitch;
        const auto rgb = true_sample(truth, pyramid.layout().format, color, x, y, static_cast<double>(patch.lod));
        for (int c = 0; c < 3; ++c) {
          worst = std::max(
              worst, std::abs(rgb[static_cast<std::size_t>(c)] - static_cast<double>(batch_value(batch, n, c, j, i))));
        }
      }
    }
  }
  EXPECT_LT(worst,
            2e-4);  // float positions near 300 px: 2^-16 of a texel, times steps of up to 255 codes and 2 of gain
}

class Sampler : public testing::TestWithParam<bool> {};  // plain or SIMD

TEST_P(Sampler, AnyPatch_AgreesWithDoublePrecision) {
  const CpuOps ops = GetParam() ? simd_ops() : plain_ops();
  unsigned seed = 1;
  for (const PixelLayout layout : {PixelLayout::kI420, PixelLayout::kI420p16, PixelLayout::kRgba8}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {15, 17}, {161, 121}, {300, 200}}) {
      for (const auto& [site_x, site_y] : {std::pair{0.25f, 0.0f}, {0.0f, 0.0f}, {0.25f, 0.25f}}) {
        ++seed;
        SCOPED_TRACE(fmt::format("{} {}x{} site {} {} seed {}", name(layout), width, height, site_x, site_y, seed));
        std::mt19937 rng(seed);
        TestFrame frame(layout, width, height, usual_shift(layout));
        draw(frame, rng);
        CpuPyramid pyramid(make_pyramid_layout(width, height, texture_format(layout)), ops);
        Damage all(pyramid.layout().tiles);
        all.set_all();
        pyramid.upload(frame.view(), all);
        pyramid.refresh_mips(all);
        const int size = seed % 2 == 0 ? 16 : 6;
        const PatchPlan plan = random_plan(rng, width, height, 7, size, seed % 3 == 0);
        const ColorSpec color{ColorMatrix::kBt709, ColorRange::kLimited,
                              static_cast<std::uint8_t>(is_wide(layout) ? 10 : 8), site_x, site_y};
        PatchBatch batch(plan.count(), size, {SampleType::kF32, {0, 0, 0}, {1, 1, 1}});
        pyramid.sample(plan, color, batch);
        expect_true_samples(pyramid, Truth(pyramid), plan, color, batch);
      }
    }
  }
}

// A patch of integer lod on texel centres reads level l itself.
TEST_P(Sampler, TexelCentres_AreCopied) {
  const CpuOps ops = GetParam() ? simd_ops() : plain_ops();
  std::mt19937 rng(9);
  TestFrame frame(PixelLayout::kRgba8, 256, 256);
  frame.randomize(rng);
  CpuPyramid pyramid(make_pyramid_layout(256, 256, TextureFormat::kRgba8), ops);
  Damage all(pyramid.layout().tiles);
  all.set_all();
  pyramid.upload(frame.view(), all);
  pyramid.refresh_mips(all);
  for (int level = 0; level <= 4; ++level) {
    PatchPlan plan;
    const float span = 16.0f * static_cast<float>(1 << level);
    plan.patches = {{span / 2, span / 2, static_cast<float>(level), 1.0f},
                    {256 - span / 2, 256 - span / 2, static_cast<float>(level), 1.0f}};
    PatchBatch batch(2, 16, {});
    pyramid.sample(plan, {}, batch);
    LevelImage image;
    pyramid.read_level(0, level, image);
    for (std::size_t n = 0; n < 2; ++n) {
      const int origin = n == 0 ? 0 : (256 >> level) - 16;
      for (int c = 0; c < 3; ++c) {
        for (int j = 0; j < 16; ++j) {
          for (int i = 0; i < 16; ++i) {
            const auto texel = static_cast<std::size_t>(((origin + j) * image.width + origin + i) * 4 + c);
            ASSERT_EQ(static_cast<int>(batch.patch(n)[static_cast<std::size_t>((c * 16 + j) * 16 + i)]),
                      image.data[texel]);
          }
        }
      }
    }
  }
}

TEST_P(Sampler, UncoveredPatch_IsZeroRgb) {
  const CpuOps ops = GetParam() ? simd_ops() : plain_ops();
  std::mt19937 rng(4);
  TestFrame frame(PixelLayout::kNv12, 40, 30);
  frame.randomize(rng);
  CpuPyramid pyramid(make_pyramid_layout(40, 30, TextureFormat::kYuv8), ops);
  Damage all(pyramid.layout().tiles);
  all.set_all();
  pyramid.upload(frame.view(), all);
  pyramid.refresh_mips(all);
  PatchPlan plan;
  plan.patches = {{-500, 20, 1, 0}, {20, 15, 0, 1}};
  PatchBatch bytes(2, 16, {});
  pyramid.sample(plan, {}, bytes);
  for (const std::byte b : bytes.patch(0)) ASSERT_EQ(static_cast<int>(b), 0);
  PatchBatch floats(2, 16, {SampleType::kF32, {0.5f, 0.25f, 0.125f}, {2, 4, 8}});
  pyramid.sample(plan, {}, floats);
  for (int i = 0; i < 256; ++i) {
    for (int c = 0; c < 3; ++c) ASSERT_EQ(batch_value(floats, 0, c, i / 16, i % 16), -1.0f);
  }
  PatchBatch halves(2, 16, {SampleType::kF16, {0.5f, 0.25f, 0.125f}, {2, 4, 8}});
  pyramid.sample(plan, {}, halves);
  for (std::size_t i = 0; i < 3 * 256; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, halves.patch(0).data() + 2 * i, 2);
    ASSERT_EQ(half, 0xbc00);  // -1
  }
}

// Far outside (but said to be covered), every sample reads the nearest edge.
TEST_P(Sampler, FarOutside_ReadsTheEdge) {
  const CpuOps ops = GetParam() ? simd_ops() : plain_ops();
  TestFrame frame(PixelLayout::kRgba8, 64, 64);
  frame.for_each_sample([&](int p, int x, int y, int c) { frame.set(p, x, y, c, c == 0 ? x * 3 : y * 2); });
  CpuPyramid pyramid(make_pyramid_layout(64, 64, TextureFormat::kRgba8), ops);
  Damage all(pyramid.layout().tiles);
  all.set_all();
  pyramid.upload(frame.view(), all);
  pyramid.refresh_mips(all);
  PatchPlan plan;
  plan.patches = {{1e9f, 1e9f, 0, 1}, {-1e9f, -1e9f, 0, 1}, {1e9f, -1e9f, 0, 1}};
  PatchBatch batch(3, 16, {});
  pyramid.sample(plan, {}, batch);
  const std::array<std::array<int, 2>, 3> expected{{{189, 126}, {0, 0}, {189, 0}}};
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t i = 0; i < 256; ++i) {
      ASSERT_EQ(static_cast<int>(batch.patch(n)[i]), expected[n][0]);
      ASSERT_EQ(static_cast<int>(batch.patch(n)[256 + i]), expected[n][1]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Sampler, testing::Bool(), [](const auto& each) { return each.param ? "simd" : "plain"; });

}  // namespace
}  // namespace saccade::test
