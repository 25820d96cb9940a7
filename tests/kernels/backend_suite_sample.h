// The suite's second half: samples against the plain CPU sampler's, which tests/kernels/sampler_test.cpp holds against
// double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/kernels/backend_suite.h"
#include "tests/kernels/random_plan.h"

namespace saccade::test {

inline ColorSpec suite_color(PixelLayout layout, unsigned seed) {
  ColorSpec color;
  color.depth_bits = is_wide(layout) ? 10 : 8;
  color.matrix = seed % 2 == 0 ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
  color.range = seed % 3 == 0 ? ColorRange::kFull : ColorRange::kLimited;
  if (seed % 5 == 0) color.site_shift_y = 0.25f;
  return color;
}

inline double bound_of(const SampleBounds& bounds, SampleType type) {
  return type == SampleType::kU8 ? bounds.u8 : type == SampleType::kF16 ? bounds.f16 : bounds.f32;
}

// A texture and the plain one that show the same noise.
struct SamplePair {
  std::unique_ptr<Texture> texture;
  PlainTexture plain;
  TestFrame frame;
  std::mt19937 rng;

  SamplePair(const SuiteCase& c, std::unique_ptr<Texture> made)
      : texture(std::move(made)), plain(c.shape(), {}), frame(c.frame()), rng(c.seed) {
    frame.randomize(rng);
  }
};

TEST_P(BackendSuite, Samples_EqualThePlainSampler) {
  const SampleFormat formats[] = {{},
                                  {SampleType::kF16, {0.48f, 0.45f, 0.40f}, {3.7f, 3.8f, 3.6f}},
                                  {SampleType::kF32, {0.48f, 0.45f, 0.40f}, {3.7f, 3.8f, 3.6f}},
                                  {SampleType::kF32, {0, 0, 0}, {1, 1, 1}}};
  unsigned seed = 0;
  for (const PixelLayout layout : kLayouts) {
    for (const SuiteSize size : {SuiteSize{333, 211}, SuiteSize{640, 360}, SuiteSize{15, 17}}) {
      const SuiteCase c{layout, size.width, size.height, kDefaultLevels, ++seed};
      SamplePair pair(c, make(c.shape()));
      pair.texture->update(place(pair.frame.view(), seed));
      pair.plain.update(pair.frame.view());
      for (const bool whole_lods : {true, false}) {
        for (const int patch_size : {16, 7}) {
          const PatchPlan plan = random_plan(c.shape(), 41, patch_size, whole_lods, pair.rng);
          const ColorSpec color = suite_color(layout, seed);
          for (const SampleFormat& format : formats) {
            PatchBatch expected(plan.count(), patch_size, format);
            PatchBatch actual(plan.count(), patch_size, format);
            pair.plain.levels.sample(plan, color, expected);
            pair.texture->sample(plan, color, actual);
            expect_close(expected, actual, bound_of(GetParam().samples, format.type),
                         fmt::format("{} S {} whole lods {} {}", c.text(), patch_size, whole_lods, name(format.type)));
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(BackendSuite, UncoveredPatches_AreZeroRgb) {
  const SuiteCase c{PixelLayout::kI420, 100, 80, 7, 4};
  SamplePair pair(c, make(c.shape()));
  pair.texture->update(place(pair.frame.view()));
  PatchPlan plan;
  plan.patches = {{-500.0f, 40.0f, 0.0f, 0.0f}, {50.0f, 40.0f, 0.0f, 1.0f}};
  PatchBatch bytes(2, 16, {});
  std::fill(bytes.bytes().begin(), bytes.bytes().end(), std::byte{9});
  pair.texture->sample(plan, {}, bytes);
  for (const std::byte value : bytes.patch(0)) ASSERT_EQ(value, std::byte{0});
  EXPECT_FALSE(std::ranges::all_of(bytes.patch(1), [](std::byte value) { return value == std::byte{9}; }));
  for (const SampleType type : {SampleType::kF32, SampleType::kF16}) {
    PatchBatch values(2, 16, {type, {0.5f, 0.25f, 0.125f}, {2, 4, 8}});
    pair.texture->sample(plan, {}, values);
    for (std::size_t i = 0; i < 3 * 256; ++i) ASSERT_EQ(sample_value(values, i), -1.0) << name(type) << " " << i;
  }
}

// By hand: RGBA, lod 0, centre on the middle of a 2x2 patch: samples are the four texels themselves.
TEST_P(BackendSuite, SamplesOnTexels_CopyThem) {
  const SuiteCase c{PixelLayout::kRgba8, 64, 64, 7, 6};
  SamplePair pair(c, make(c.shape()));
  pair.texture->update(place(pair.frame.view()));
  PatchPlan plan;
  plan.patch_size = 2;
  plan.patches.push_back({11.0f, 21.0f, 0.0f, 1.0f});  // samples at 10.5 and 11.5: texels 10 and 11
  PatchBatch batch(1, 2, {});
  pair.texture->sample(plan, {}, batch);
  for (int channel = 0; channel < 3; ++channel) {
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(std::to_integer<int>(batch.bytes()[static_cast<std::size_t>(channel * 4 + j * 2 + i)]),
                  pair.frame.get(0, 10 + i, 20 + j, channel));
      }
    }
  }
}

// Several batches on their way at once, with updates between them: each holds what the texture was when
// it was asked for.
TEST_P(BackendSuite, BatchesInFlight_HoldTheirOwnFrame) {
  for (const PixelLayout layout : kLayouts) {
    const SuiteCase c{layout, 320, 180, 7, 31};
    SamplePair pair(c, make(c.shape()));
    const PatchPlan plan = random_plan(c.shape(), 60, 16, false, pair.rng);
    const ColorSpec color = suite_color(layout, c.seed);
    std::vector<PatchBatch> expected;
    std::vector<PatchBatch> actual;
    for (int n = 0; n < 6; ++n) {
      pair.frame.randomize(pair.rng);
      pair.texture->update(place(pair.frame.view()));
      static_cast<void>(pair.texture->damage());
      pair.plain.update(pair.frame.view());
      expected.emplace_back(plan.count(), 16, SampleFormat{});
      pair.plain.levels.sample(plan, color, expected.back());
      actual.push_back(pair.texture->make_batch(plan.count(), 16, {}));
      pair.texture->submit(plan, color, {}, actual.back());
    }
    for (std::size_t n = 0; n < actual.size(); ++n) {
      actual[n].wait();
      expect_close(expected[n], actual[n], GetParam().samples.u8, fmt::format("{} batch {}", c.text(), n));
    }
  }
}

// A texture that starts over is a new one: nothing of its last stream, settings or patches is left.
TEST_P(BackendSuite, StartedOver_EqualsANewOne) {
  constexpr DiffConfig kBefore{8, 2, 8};
  constexpr DiffConfig kAfter{1, 0, 0};
  for (const PixelLayout layout : kLayouts) {
    for (const int levels : {1, 7, 9}) {
      const SuiteCase c{layout, 161, 121, levels, 50};
      SamplePair pair(c, make(c.shape(), kBefore));
      const PatchPlan plan = random_plan(c.shape(), 30, 16, false, pair.rng);
      const ColorSpec color = suite_color(layout, c.seed);
      const std::vector<std::uint8_t> unchanged(plan.count(), 0);
      {
        PatchBatch last = pair.texture->make_batch(plan.count(), 16, {});
        for (int n = 0; n < 3; ++n) {
          pair.frame.randomize(pair.rng);
          pair.texture->update(place(pair.frame.view()));
          pair.texture->submit(plan, color, {}, last);
        }
        last.wait();
      }
      ReusableTexture* const reusable = pair.texture->capabilities().reusable;
      ASSERT_EQ(reusable != nullptr, GetParam().starts_over);
      if (reusable == nullptr) return;
      reusable->start_over(kAfter);
      PlainTexture fresh(c.shape(), kAfter);
      for (int step = 0; step < 3; ++step) {
        SCOPED_TRACE(fmt::format("{} step {}", c.text(), step));
        if (step == 0) {
          pair.frame.randomize(pair.rng);
        } else {
          disturb(pair.frame, pair.rng, 6);
        }
        pair.texture->update(place(pair.frame.view()));
        const std::int64_t bytes = fresh.update(pair.frame.view());
        ASSERT_NO_FATAL_FAILURE(expect_same_damage(fresh.differ.damage(), pair.texture->damage(), c.text()));
        ASSERT_EQ(pair.texture->bytes_written(), bytes);
        ASSERT_NO_FATAL_FAILURE(expect_same_levels(fresh.levels, *pair.texture, c.text()));
        PatchBatch expected(plan.count(), 16, {});
        PatchBatch actual = pair.texture->make_batch(plan.count(), 16, {});
        fresh.levels.sample(plan, color, expected);
        pair.texture->submit(plan, color, step == 0 ? std::span(unchanged) : std::span<const std::uint8_t>{}, actual);
        actual.wait();
        expect_close(expected, actual, GetParam().samples.u8, c.text());
        if (HasFailure()) return;
      }
    }
  }
}

// Where the caller vouches that a patch is as before, its samples may be copied: the bytes are those of sampling.
TEST_P(BackendSuite, UnchangedPatches_KeepTheirBytes) {
  const SuiteCase c{PixelLayout::kNv12, 160, 96, 3, 12};
  SamplePair pair(c, make(c.shape()));
  PatchPlan plan;
  for (int n = 0; n < 10; ++n) {
    plan.patches.push_back({static_cast<float>(16 * n + 8), n % 2 == 0 ? 24.0f : 72.0f, 0.0f, 1.0f});
  }
  PatchBatch submitted = pair.texture->make_batch(plan.count(), 16, {});
  PatchBatch sampled(plan.count(), 16, {});
  std::vector<std::uint8_t> changed(plan.count(), 1);
  for (int step = 0; step < 8; ++step) {
    if (step > 0) {  // the left half changes, or the right one, or a patch has moved
      const int x = step % 2 == 0 ? 0 : 80;
      pair.frame.randomize(pair.rng, x, 0, x + 80, 96);
      for (std::size_t n = 0; n < plan.count(); ++n) {
        changed[n] = std::abs(plan.patches[n].x_px - static_cast<float>(x + 40)) < 80 ? 1 : 0;
      }
      plan.patches[1].y_px = static_cast<float>(40 + step);  // vouched for or not: another place
    }
    pair.texture->update(place(pair.frame.view()));
    pair.texture->submit(plan, {}, changed, submitted);
    submitted.wait();
    pair.texture->sample(plan, {}, sampled);
    ASSERT_TRUE(std::ranges::equal(submitted.bytes(), sampled.bytes())) << "step " << step;
  }
}

TEST_P(BackendSuite, ABatchOfAnotherShape_IsRefused) {
  const SuiteCase c{PixelLayout::kI420, 64, 64, 7, 3};
  SamplePair pair(c, make(c.shape()));
  pair.texture->update(place(pair.frame.view()));
  const PatchPlan plan = random_plan(c.shape(), 4, 16, true, pair.rng);
  PatchBatch fewer(3, 16, {});
  PatchBatch smaller(4, 8, {});
  for (PatchBatch* batch : {&fewer, &smaller}) {
    EXPECT_THROW(pair.texture->sample(plan, {}, *batch), std::invalid_argument);
    EXPECT_THROW(pair.texture->submit(plan, {}, {}, *batch), std::invalid_argument);
  }
  PatchBatch right(4, 16, {});
  EXPECT_NO_THROW(pair.texture->sample(plan, {}, right));
}

// Work on a device is timed by its own clock, once that was asked for; elsewhere nothing comes.
TEST_P(BackendSuite, DeviceTimes_ComeOnlyWhenAskedFor) {
  const SuiteCase c{PixelLayout::kNv12, 161, 121, 7, 2};
  SamplePair pair(c, make(c.shape()));
  TimedTexture* const timed = pair.texture->capabilities().timed;
  if (timed == nullptr) return;  // in host memory
  DeviceTime time;
  pair.texture->update(place(pair.frame.view()));
  EXPECT_FALSE(timed->poll_device_time(time));
  timed->measure_device();
  for (int step = 0; step < 6; ++step) {
    pair.frame.randomize(pair.rng);
    pair.texture->update(place(pair.frame.view()));
    static_cast<void>(pair.texture->damage());
    while (timed->poll_device_time(time)) EXPECT_GE(time.ns, 0);
  }
}

}  // namespace saccade::test
