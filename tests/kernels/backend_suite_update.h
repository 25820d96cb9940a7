// The suite's first half: update() against the definition, on random damage, odd sizes and all levels.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "tests/kernels/backend_suite.h"
#include "tests/support/allocation_counter.h"

namespace saccade::test {

TEST_P(BackendSuite, FirstUpdate_LevelsAreTrueMeans) {
  unsigned seed = 0;
  for (const PixelLayout layout : kLayouts) {
    for (const SuiteSize size : kSuiteSizes) {
      for (const int levels : {1, 3, 7, 9}) {
        const SuiteCase c{layout, size.width, size.height, levels, ++seed};
        SCOPED_TRACE(c.text());
        std::mt19937 rng(seed);
        TestFrame frame = c.frame();
        frame.randomize(rng);
        const auto texture = make(c.shape());
        texture->update(place(frame.view(), seed));
        ASSERT_TRUE(texture->damage().all());
        EXPECT_EQ(texture->bytes_written(), texture->layout().level0_bytes());
        ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(*texture, frame));
      }
    }
  }
}

// After any sequence of damage the texture equals one that is built from the last frame alone.
TEST_P(BackendSuite, RandomDamage_EqualsARebuild) {
  unsigned seed = 100;
  for (const PixelLayout layout : kLayouts) {
    for (const SuiteSize size : kSuiteSizes) {
      for (const int levels : {1, 4, 5, 7, 9}) {
        const SuiteCase c{layout, size.width, size.height, levels, ++seed};
        std::mt19937 rng(seed);
        TestFrame frame = c.frame();
        frame.randomize(rng);
        const auto texture = make(c.shape());
        PlainTexture plain(c.shape(), {});
        for (std::size_t step = 0; step < 5; ++step) {
          const std::string what = fmt::format("{} step {}", c.text(), step);
          if (step > 0) disturb(frame, rng, kSuiteShares[(step + seed) % kSuiteShares.size()]);
          texture->update(place(frame.view(), seed));
          const std::int64_t bytes = plain.update(frame.view());
          ASSERT_NO_FATAL_FAILURE(expect_same_damage(plain.differ.damage(), texture->damage(), what));
          if (GetParam().counts_tiles) {
            ASSERT_EQ(texture->bytes_written(), bytes) << what;
          }
          ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(*texture, frame)) << what;
        }
      }
    }
  }
}

// With a threshold the texture is not the frame: the plain CPU operations say what it is.
TEST_P(BackendSuite, EveryConfig_EqualsThePlainOperations) {
  constexpr DiffConfig kConfigs[] = {{0, 0, 8}, {0, 0, 0}, {3, 0, 8}, {0, 5, 2}, {8, 12, 8}, {256, 0, 0}, {1, 0, 255}};
  unsigned seed = 300;
  for (const PixelLayout layout : kLayouts) {
    for (const DiffConfig& config : kConfigs) {
      for (const SuiteSize size : {SuiteSize{161, 121}, SuiteSize{64, 48}, SuiteSize{19, 5}}) {
        const SuiteCase c{layout, size.width, size.height, kDefaultLevels, ++seed};
        std::mt19937 rng(seed);
        TestFrame frame = c.frame();
        frame.randomize(rng);
        const auto texture = make(c.shape());
        texture->configure(config);
        PlainTexture plain(c.shape(), config);
        for (std::size_t step = 0; step < 4; ++step) {
          const std::string what = fmt::format("{} threshold {} min {} floor {} step {}", c.text(), config.threshold,
                                               config.min_samples, config.noise_floor, step);
          if (step > 0) disturb(frame, rng, kSuiteShares[step]);
          texture->update(place(frame.view(), seed));
          plain.update(frame.view());
          ASSERT_NO_FATAL_FAILURE(expect_same_damage(plain.differ.damage(), texture->damage(), what));
          ASSERT_NO_FATAL_FAILURE(expect_same_levels(plain.levels, *texture, what));
        }
      }
    }
  }
}

TEST_P(BackendSuite, Staged_EqualsFused) {
  unsigned seed = 500;
  for (const PixelLayout layout : kLayouts) {
    for (const SuiteSize size : kSuiteSizes) {
      for (const DiffConfig& config : {DiffConfig{0, 0, 8}, DiffConfig{3, 0, 0}, DiffConfig{0, 5, 8}}) {
        const SuiteCase c{layout, size.width, size.height, 1 + static_cast<int>(++seed % 8), seed};
        std::mt19937 rng(seed);
        TestFrame frame = c.frame();
        frame.randomize(rng);
        const auto fused = make(c.shape(), config);
        const auto steps = make(c.shape(), config, true);
        StagedTexture* const staged = steps->capabilities().staged;
        ASSERT_NE(staged, nullptr);
        for (std::size_t step = 0; step < 5; ++step) {
          const std::string what = fmt::format("{} threshold {} step {}", c.text(), config.threshold, step);
          if (step > 0) disturb(frame, rng, kSuiteShares[step]);
          if (step == 4) {
            fused->damage_everything();
            steps->damage_everything();
          }
          const FrameView placed = place(frame.view(), seed);
          fused->update(placed);
          const Damage& damage = staged->diff(placed);
          ASSERT_NO_FATAL_FAILURE(expect_same_damage(damage, fused->damage(), what));
          EXPECT_EQ(staged->upload(placed, damage), fused->bytes_written()) << what;
          staged->refresh_mips(damage);
          ASSERT_NO_FATAL_FAILURE(expect_same_levels(*steps, *fused, what));
        }
      }
    }
  }
}

TEST_P(BackendSuite, AnyNumberOfLevels_IsTrue) {
  unsigned seed = 700;
  const std::pair<SuiteSize, int> shapes[] = {
      {{145, 99}, 1},  {{145, 99}, 2}, {{145, 99}, 3},  {{145, 99}, 4}, {{145, 99}, 5}, {{145, 99}, 6},  {{145, 99}, 8},
      {{145, 99}, 11}, {{1, 1}, 12},   {{1100, 70}, 9}, {{70, 500}, 8}, {{33, 65}, 10}, {{2047, 65}, 12}};
  for (const PixelLayout layout : kLayouts) {
    for (const auto& [size, levels] : shapes) {
      const SuiteCase c{layout, size.width, size.height, levels, ++seed};
      SCOPED_TRACE(c.text());
      std::mt19937 rng(seed);
      TestFrame frame = c.frame();
      frame.randomize(rng);
      const auto texture = make(c.shape());
      for (int step = 0; step < 3; ++step) {
        if (step > 0) disturb(frame, rng, 8);
        texture->update(place(frame.view(), seed));
        ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(*texture, frame)) << "step " << step;
      }
    }
  }
}

// White makes the largest sums: coarse levels of 16-bit planes need more than 32 bits.
TEST_P(BackendSuite, White_StaysWhite) {
  const SuiteCase c{PixelLayout::kP016, 1100, 1050, 12, 0};
  TestFrame frame = c.frame();
  frame.for_each_sample([&](int p, int x, int y, int channel) { frame.set(p, x, y, channel, 65535); });
  const auto texture = make(c.shape());
  texture->update(place(frame.view()));
  LevelImage image;
  for (int p = 0; p < 2; ++p) {
    for (int l = 0; l < c.shape().planes[static_cast<std::size_t>(p)].levels; ++l) {
      texture->read_level(p, l, image);
      ASSERT_TRUE(std::ranges::all_of(image.data, [](std::uint8_t byte) { return byte == 255; })) << p << " " << l;
    }
  }
}

TEST_P(BackendSuite, LargeFrames_AreTrue) {
  const SuiteCase cases[] = {{PixelLayout::kNv12, 1920, 1080, 7, 1},
                             {PixelLayout::kI420, 638, 358, 11, 2},
                             {PixelLayout::kP016, 1280, 720, 7, 3}};
  for (const SuiteCase& c : cases) {
    SCOPED_TRACE(c.text());
    std::mt19937 rng(c.seed);
    TestFrame frame = c.frame();
    frame.randomize(rng);
    const auto texture = make(c.shape());
    texture->update(place(frame.view()));
    ASSERT_TRUE(texture->damage().all());
    disturb(frame, rng, 40);
    texture->update(place(frame.view()));
    ASSERT_NO_FATAL_FAILURE(expect_true_pyramid(*texture, frame));
  }
}

// By hand: one sample of 255 in a black 64x64 frame. Its mean over 4^l texels is 255 / 4^l, rounded half up.
TEST_P(BackendSuite, OneBrightSample_EqualsArithmetic) {
  TestFrame frame(PixelLayout::kNv12, 64, 64);
  frame.for_each_sample([&](int p, int x, int y, int c) { frame.set(p, x, y, c, 0); });
  const auto texture = make(make_pyramid_layout(64, 64, TextureFormat::kYuv8));
  texture->update(place(frame.view()));
  EXPECT_TRUE(texture->damage().all());
  frame.set(0, 37, 20, 0, 255);
  texture->update(place(frame.view()));
  const Damage& damage = texture->damage();
  EXPECT_EQ(damage.count(), 1);
  EXPECT_TRUE(damage.test(2, 1));
  EXPECT_EQ(damage.energy()[6], 255U - 8U);
  constexpr int kExpected[] = {255, 64, 16, 4, 1, 0, 0};
  LevelImage image;
  for (int l = 0; l < 7; ++l) {
    texture->read_level(0, l, image);
    EXPECT_EQ(image.data[static_cast<std::size_t>((20 >> l) * image.width + (37 >> l))], kExpected[l]) << "level " << l;
    const auto lit = std::ranges::count_if(image.data, [](std::uint8_t v) { return v != 0; });
    EXPECT_EQ(lit, kExpected[l] != 0 ? 1 : 0) << "level " << l;
  }
}

TEST_P(BackendSuite, DamageEverything_HoldsForOneUpdate) {
  for (const bool staged : {false, true}) {
    TestFrame frame(PixelLayout::kNv12, 50, 40);
    const auto texture = make(make_pyramid_layout(50, 40, TextureFormat::kYuv8), {}, staged);
    const auto damaged = [&] {
      texture->update(place(frame.view()));
      return texture->damage().count();
    };
    EXPECT_EQ(damaged(), 12);
    EXPECT_EQ(damaged(), 0);
    EXPECT_EQ(texture->bytes_written(), 0);
    texture->damage_everything();
    EXPECT_EQ(damaged(), 12);
    EXPECT_EQ(damaged(), 0);
  }
}

// Damage that nobody reads stays where it was found; the next update replaces it.
TEST_P(BackendSuite, UnreadDamage_ChangesNothing) {
  const SuiteCase c{PixelLayout::kNv12, 161, 121, 7, 9};
  std::mt19937 rng(c.seed);
  std::vector<TestFrame> frames(5, c.frame());
  for (std::size_t n = 0; n < frames.size(); ++n) {
    if (n > 0) frames[n] = frames[n - 1];
    if (n == 0) frames[n].randomize(rng);
    if (n > 0) disturb(frames[n], rng, 5);
  }
  const auto read = make(c.shape());
  const auto unread = make(c.shape());
  for (const TestFrame& frame : frames) {
    const FrameView placed = place(frame.view());
    read->update(placed);
    unread->update(placed);
    static_cast<void>(read->damage());
    if (&frame != &frames.back()) {
      LevelImage image;
      unread->read_level(0, 0, image);  // waits for the device, which reads the frame
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_same_damage(read->damage(), unread->damage(), "last"));
  ASSERT_NO_FATAL_FAILURE(expect_same_damage(read->damage(), unread->damage(), "read again"));
  expect_true_pyramid(*unread, frames.back());
}

TEST_P(BackendSuite, WhatDoesNotFit_IsRefused) {
  const auto texture = make(make_pyramid_layout(64, 48, TextureFormat::kYuv8), {}, true);
  const TestFrame other_size(PixelLayout::kNv12, 64, 47);
  const TestFrame other_format(PixelLayout::kRgba8, 64, 48);
  const TestFrame deep(PixelLayout::kP016, 64, 48);
  const TestFrame frame(PixelLayout::kNv12, 64, 48);
  for (const TestFrame* wrong : {&other_size, &other_format, &deep}) {
    EXPECT_THROW(texture->update(place(wrong->view())), std::invalid_argument);
  }
  EXPECT_THROW(texture->capabilities().staged->upload(place(frame.view()), Damage({1, 1})), std::invalid_argument);
  EXPECT_THROW(texture->capabilities().staged->refresh_mips(Damage({3, 2})), std::invalid_argument);
  LevelImage image;
  EXPECT_THROW(texture->read_level(0, 7, image), std::out_of_range);
  EXPECT_THROW(texture->read_level(1, 6, image), std::out_of_range);
  EXPECT_THROW(texture->read_level(2, 0, image), std::out_of_range);
  EXPECT_THROW(texture->read_level(0, -1, image), std::out_of_range);
  texture->update(place(frame.view()));  // and none of it did harm
  EXPECT_TRUE(texture->damage().all());
  expect_true_pyramid(*texture, frame);
}

TEST_P(BackendSuite, TexelsOfAPart_AreThoseOfTheLevel) {
  for (const PixelLayout layout : {PixelLayout::kI420, PixelLayout::kP016, PixelLayout::kRgba8}) {
    const SuiteCase c{layout, 203, 131, 7, 5};
    std::mt19937 rng(c.seed);
    TestFrame frame = c.frame();
    disturb(frame, rng, 1);
    const auto texture = make(c.shape());
    texture->update(place(frame.view()));
    for (int p = 0; p < c.shape().plane_count; ++p) {
      for (int l = 0; l < c.shape().planes[static_cast<std::size_t>(p)].levels; ++l) {
        LevelImage whole;
        texture->read_level(p, l, whole);
        for (int i = 0; i < 4; ++i) {
          TexelRect part{static_cast<int>(rng() % static_cast<unsigned>(whole.width)),
                         static_cast<int>(rng() % static_cast<unsigned>(whole.height))};
          part.width = static_cast<int>(rng() % static_cast<unsigned>(whole.width - part.x + 1));
          part.height = static_cast<int>(rng() % static_cast<unsigned>(whole.height - part.y + 1));
          SCOPED_TRACE(c.text() + " plane " + std::to_string(p) + " level " + std::to_string(l));
          const auto texel = static_cast<std::size_t>(whole.channels * whole.bytes_per_channel);
          const std::size_t row = static_cast<std::size_t>(part.width) * texel, pitch = row + 3 * texel;
          std::vector<std::uint8_t> out(pitch * static_cast<std::size_t>(part.height) + 1, 99);
          texture->read_texels(p, l, part, out.data(), static_cast<std::ptrdiff_t>(pitch));
          for (std::size_t at = 0; at < out.size(); ++at) {
            const std::size_t x = at % pitch, y = at / pitch;
            const std::size_t from = (static_cast<std::size_t>(part.y) + y) * static_cast<std::size_t>(whole.width);
            const bool copied = x < row && y < static_cast<std::size_t>(part.height);
            const int expected = copied ? whole.data[(from + static_cast<std::size_t>(part.x)) * texel + x] : 99;
            ASSERT_EQ(out[at], expected) << part.width << "x" << part.height << " byte " << at;
          }
        }
        std::uint8_t none = 0;
        for (const TexelRect& part : {TexelRect{-1, 0, 1, 1}, TexelRect{0, whole.height, 1, 1},
                                      TexelRect{0, 0, whole.width + 1, 1}, TexelRect{0, 0, 1, -1}}) {
          EXPECT_THROW(texture->read_texels(p, l, part, &none, 1 << 20), std::out_of_range);
        }
      }
    }
  }
}

TEST_P(BackendSuite, NewTexture_IsZeros) {
  const auto texture = make(make_pyramid_layout(100, 50, TextureFormat::kYuv16, 8));
  LevelImage image;
  for (int l = 0; l < 8; ++l) {
    texture->read_level(0, l, image);
    EXPECT_TRUE(std::ranges::all_of(image.data, [](std::uint8_t v) { return v == 0; })) << "level " << l;
  }
}

// By any form of operator new of this program; what a driver takes is its own.
TEST_P(BackendSuite, SteadyFrames_AllocateNothing) {
  for (const PixelLayout layout : {PixelLayout::kI420, PixelLayout::kP016, PixelLayout::kRgba8}) {
    for (const bool staged : {false, true}) {
      const SuiteCase c{layout, 333, 211, 7, 4};
      SCOPED_TRACE(fmt::format("{} staged {}", c.text(), staged));
      std::mt19937 rng(c.seed);
      std::vector<TestFrame> frames(5, c.frame());
      for (std::size_t n = 1; n < frames.size(); ++n) {  // the first to the second: everything
        if (n > 1) frames[n] = frames[n - 1];
        if (n == 1) frames[n].randomize(rng);
        if (n > 1) disturb(frames[n], rng, n == 2 ? 60 : 8);
      }
      frames.push_back(frames.back());  // nothing
      std::vector<std::any> memory(frames.size());
      std::vector<FrameView> views;
      for (std::size_t n = 0; n < frames.size(); ++n) {
        views.push_back(GetParam().place ? GetParam().place(frames[n].view(), 0, memory[n]) : frames[n].view());
      }
      const auto texture = make(c.shape(), {}, staged);
      PatchPlan plan;
      plan.patch_size = 7;  // 49 samples: rows of some backends are padded
      plan.patches = {{50, 50, 0, 1}, {100, 75, 2.5f, 1}, {190, 140, 6, 0.3f}};
      PatchBatch batch = texture->make_batch(3, 7, {});
      const std::vector<std::uint8_t> changed{1, 0, 1};
      const auto round = [&] {
        for (const FrameView& view : views) {
          texture->update(view);
          static_cast<void>(texture->damage());
          texture->sample(plan, view.color, batch);
          texture->submit(plan, view.color, changed, batch);
          batch.wait();
        }
      };
      round();
      round();
      const long before = allocation_count();
      round();
      EXPECT_EQ(allocation_count(), before);
    }
  }
}

// Else the test above could not fail.
TEST(BackendSuiteAllocations, Counter_Counts) {
  const long before = allocation_count();
  const std::vector<int> some(100);
  EXPECT_EQ(allocation_count(), before + 1) << some.size();
}

}  // namespace saccade::test
