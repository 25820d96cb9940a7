// Which tiles differ, against a brute-force reading of the definition.
#include "kernels/cpu/differ.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

struct TileTruth {
  int over = 0;             // samples over the threshold
  std::int64_t energy = 0;  // before the 16-bit shift
};

std::vector<TileTruth> truth(const TestFrame& frame, const TestFrame& before, const TileGrid& grid,
                             const DiffConfig& config) {
  std::vector<TileTruth> tiles(static_cast<std::size_t>(grid.count()));
  const int unit = is_wide(frame.view().layout) ? 256 : 1;
  frame.for_each_sample([&](int p, int x, int y, int c) {
    const int size = p == 0 ? 16 : 8;
    TileTruth& tile = tiles[static_cast<std::size_t>((y / size) * grid.cols + x / size)];
    const int difference = std::abs(frame.aligned(p, x, y, c) - before.aligned(p, x, y, c));
    tile.over += difference > config.threshold * unit ? 1 : 0;
    if (p == 0) tile.energy += std::max(difference - config.noise_floor * unit, 0);
  });
  return tiles;
}

void copy(const TestFrame& from, TestFrame& to) {
  from.for_each_sample([&](int p, int x, int y, int c) { to.set(p, x, y, c, from.get(p, x, y, c)); });
}

void expect_truth(const Damage& damage, const std::vector<TileTruth>& tiles, const DiffConfig& config,
                  int energy_shift) {
  int count = 0;
  for (int t = 0; t < damage.grid().count(); ++t) {
    const TileTruth& tile = tiles[static_cast<std::size_t>(t)];
    const bool damaged = tile.over > config.min_samples;
    count += damaged ? 1 : 0;
    ASSERT_EQ(damage.test(t), damaged) << "tile " << t << " with " << tile.over << " samples over the threshold";
    ASSERT_EQ(damage.energy()[static_cast<std::size_t>(t)], damaged ? tile.energy >> energy_shift : 0) << "tile " << t;
  }
  EXPECT_EQ(damage.count(), count);
}

// Nudges some samples by small and large amounts.
void nudge(TestFrame& frame, std::mt19937& rng, int one_in) {
  std::uniform_int_distribution<int> chosen(0, one_in - 1);
  std::uniform_int_distribution<int> amount(-40, 40);
  const int unit = is_wide(frame.view().layout) ? 256 >> frame.view().shift : 1;
  frame.for_each_sample([&](int p, int x, int y, int c) {
    if (chosen(rng) != 0) return;
    const int value = frame.get(p, x, y, c) + amount(rng) * unit;
    frame.set(p, x, y, c, std::clamp(value, 0, frame.max_code()));
  });
}

TEST(CpuTileDiffer, OddSize_EqualsBruteForce) {
  unsigned seed = 1;
  for (const PixelLayout layout : kLayouts) {
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 2}, {15, 17}, {65, 63}, {161, 121}, {257, 131}}) {
      for (const DiffConfig config : {DiffConfig{0, 0, 8}, DiffConfig{3, 0, 0}, DiffConfig{0, 5, 8},
                                      DiffConfig{12, 40, 20}, DiffConfig{255, 0, 255}}) {
        ++seed;
        SCOPED_TRACE(fmt::format("{} {}x{} threshold {} min_samples {} seed {}", name(layout), width, height,
                                 config.threshold, config.min_samples, seed));
        std::mt19937 rng(seed);
        TestFrame before(layout, width, height, usual_shift(layout), true);
        before.randomize(rng);
        TestFrame frame(layout, width, height, usual_shift(layout), seed % 2 == 0);
        CpuPyramid texture(make_pyramid_layout(width, height, texture_format(layout), 1));
        CpuTileDiffer differ(texture, config);
        const Damage& first = differ.diff(before.view());
        EXPECT_TRUE(first.all());
        texture.upload(before.view(), first);
        for (const int one_in : {2000, 300, 20, 2}) {
          copy(before, frame);
          nudge(frame, rng, one_in);
          const Damage& damage = differ.diff(frame.view());
          ASSERT_NO_FATAL_FAILURE(expect_truth(damage, truth(frame, before, texture.layout().tiles, config), config,
                                               is_wide(layout) ? 8 : 0));
        }
      }
    }
  }
}

// Each single sample, at the least step the format has, damages its tile and no other.
TEST(CpuTileDiffer, OneSample_DamagesOneTile) {
  for (const PixelLayout layout : kLayouts) {
    SCOPED_TRACE(name(layout));
    std::mt19937 rng(5);
    TestFrame frame(layout, 37, 35, usual_shift(layout));
    frame.randomize(rng);
    CpuPyramid texture(make_pyramid_layout(37, 35, texture_format(layout), 1));
    CpuTileDiffer differ(texture, {});
    texture.upload(frame.view(), differ.diff(frame.view()));
    ASSERT_EQ(differ.diff(frame.view()).count(), 0);
    frame.for_each_sample([&](int p, int x, int y, int c) {
      const int value = frame.get(p, x, y, c);
      frame.set(p, x, y, c, value ^ 1);
      const Damage& damage = differ.diff(frame.view());
      const int size = p == 0 ? 16 : 8;
      ASSERT_EQ(damage.count(), 1) << "plane " << p << " (" << x << ", " << y << ") channel " << c;
      ASSERT_TRUE(damage.test(x / size, y / size)) << "plane " << p << " (" << x << ", " << y << ") channel " << c;
      frame.set(p, x, y, c, value);
    });
  }
}

// What the source vouches for is not read. Rectangles may overlap, be empty, or lie in part outside.
TEST(CpuTileDiffer, RowsThatCannotDiffer_AreNotCompared) {
  TestFrame frame(PixelLayout::kNv12, 50, 70);
  CpuPyramid texture(make_pyramid_layout(50, 70, TextureFormat::kYuv8));
  CpuTileDiffer differ(texture, {});
  texture.upload(frame.view(), differ.diff(frame.view()));
  frame.for_each_sample([&](int p, int x, int y, int c) { frame.set(p, x, y, c, frame.get(p, x, y, c) ^ 1); });
  FrameView view = frame.view();
  const auto rows = [&](std::vector<PixelRect> rects) {
    view.may_differ = rects;
    const Damage& damage = differ.diff(view);
    std::string text;
    for (int ty = 0; ty < 5; ++ty) text += damage.test(3, ty) ? 'x' : '.';
    return text;
  };
  EXPECT_EQ(rows({}), ".....");
  EXPECT_EQ(rows({{0, 15, 1, 1}}), "x....");
  EXPECT_EQ(rows({{0, 15, 1, 2}}), "xx...");
  EXPECT_EQ(rows({{0, 16, 50, 16}, {3, 20, 4, 4}}), ".x...");
  EXPECT_EQ(rows({{-9, -9, 10, 10}, {40, 64, 90, 90}}), "x...x");
  EXPECT_EQ(rows({{0, 0, 0, 70}, {0, 32, 50, 0}}), ".....");
  view.may_differ.reset();
  EXPECT_TRUE(differ.diff(view).all());
}

TEST(CpuTileDiffer, OtherFrames_AreRefused) {
  CpuPyramid texture(make_pyramid_layout(50, 40, TextureFormat::kYuv8));
  CpuTileDiffer differ(texture, {});
  TestFrame wide(PixelLayout::kP016, 50, 40);
  TestFrame larger(PixelLayout::kNv12, 51, 40);
  EXPECT_THROW(differ.diff(wide.view()), std::invalid_argument);
  EXPECT_THROW(differ.diff(larger.view()), std::invalid_argument);
}

// The rule that keeps the texture true: with min_samples 0, texture and frame never differ by more than the threshold.
void expect_within(const CpuPyramid& texture, const TestFrame& frame, int threshold) {
  const int bound = threshold * (is_wide(frame.view().layout) ? 256 : 1);
  std::array<LevelImage, 2> planes;
  for (int p = 0; p < texture.layout().plane_count; ++p) texture.read_level(p, 0, planes[static_cast<std::size_t>(p)]);
  int worst = 0;
  frame.for_each_sample([&](int p, int x, int y, int c) {
    const LevelImage& image = planes[static_cast<std::size_t>(p)];
    const auto at = static_cast<std::size_t>((y * image.width + x) * image.channels + c);
    const int texel = image.bytes_per_channel == 1 ? image.data[at] : image.data[2 * at] | image.data[2 * at + 1] << 8;
    worst = std::max(worst, std::abs(texel - frame.aligned(p, x, y, c)));
  });
  ASSERT_LE(worst, bound);
}

TEST(CpuTileDiffer, Drift_StaysInBounds) {
  for (const PixelLayout layout : kLayouts) {
    for (const int threshold : {0, 2, 7}) {
      SCOPED_TRACE(fmt::format("{} threshold {}", name(layout), threshold));
      std::mt19937 rng(11);
      TestFrame frame(layout, 70, 50, usual_shift(layout));
      frame.randomize(rng);
      CpuPyramid texture(make_pyramid_layout(70, 50, texture_format(layout), 1));
      CpuTileDiffer differ(texture, {threshold, 0, 8});
      std::uniform_int_distribution<int> walk(-1, 2);  // drifts upwards: a slow fade
      const int unit = is_wide(layout) ? 200 >> frame.view().shift : 1;
      int skipped = 0;
      for (int step = 0; step < 40; ++step) {
        const Damage& damage = differ.diff(frame.view());
        skipped += damage.grid().count() - damage.count();
        texture.upload(frame.view(), damage);
        ASSERT_NO_FATAL_FAILURE(expect_within(texture, frame, threshold)) << "step " << step;
        frame.for_each_sample([&](int p, int x, int y, int c) {
          frame.set(p, x, y, c, std::clamp(frame.get(p, x, y, c) + walk(rng) * unit, 0, frame.max_code()));
        });
      }
      if (threshold == 7) {
        EXPECT_GT(skipped, 0) << "the threshold was never used";
      }
    }
  }
}

}  // namespace
}  // namespace saccade::test
