// What a receiver holds and how far it is from the picture: kept up from change to change, against all of it worked out
// at once from the definition.
#include "kernels/cpu/held_picture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/texture.h"
#include "tests/kernels/test_frame.h"

namespace saccade::test {
namespace {

constexpr ErrorMeasure kMeasures[] = {{3, 8}, {2, 0}, {2, 2}};

// The whole picture as the definition has it: pixels, padded.
class Definition {
 public:
  Definition(const CpuPyramid& pyramid, const ErrorMeasure& measure)
      : pyramid_(pyramid), layout_(pyramid.layout()), measure_(measure) {
    held_.assign(static_cast<std::size_t>(width() * layout_.planes[0].height), 128);
  }

  // Luma of the texel of this level that pixel (x, y) lies in.
  int code(int level, int x, int y) const {
    const LevelView view = pyramid_.level_view(0, level);
    const std::uint8_t* at = view.row(y >> level) + (x >> level) * layout_.planes[0].texel_bytes();
    if (layout_.format == TextureFormat::kRgba8) return (at[0] + 2 * at[1] + at[2] + 2) >> 2;
    if (layout_.format == TextureFormat::kYuv8) return at[0];
    std::uint16_t wide = 0;
    std::memcpy(&wide, at, 2);
    return wide >> 8;
  }
  int& held(int x, int y) { return held_[static_cast<std::size_t>(y * width() + x)]; }

  // Sum over the tile's pixels inside the image. level 0: of what is held.
  std::uint32_t error(int tile, int level) {
    const int left = tile % layout_.tiles.cols * 16, top = tile / layout_.tiles.cols * 16;
    std::uint32_t sum = 0;
    for (int y = top; y < std::min(top + 16, layout_.height_px); ++y) {
      for (int x = left; x < std::min(left + 16, layout_.width_px); ++x) {
        const int d = std::abs(code(0, x, y) - (level == 0 ? held(x, y) : code(level, x, y)));
        if (d > measure_.noise) sum += static_cast<std::uint32_t>(measure_.power == 3 ? d * d * d : d * d);
      }
    }
    return sum;
  }
  void hold(const Square& square) {
    const int side = 16 << square.level;
    for (int y = square.y * side; y < std::min((square.y + 1) * side, layout_.planes[0].height); ++y) {
      for (int x = square.x * side; x < std::min((square.x + 1) * side, width()); ++x) {
        held(x, y) = code(square.level, x, y);
      }
    }
  }
  void forget(const TileRect& tiles) {
    for (int y = tiles.y * 16; y < (tiles.y + tiles.height) * 16; ++y) {
      for (int x = tiles.x * 16; x < (tiles.x + tiles.width) * 16; ++x) held(x, y) = 128;
    }
  }
  void expect(const TileErrors& errors, int levels) {
    for (int tile = 0; tile < layout_.tiles.count(); ++tile) {
      const auto at = static_cast<std::size_t>(tile);
      ASSERT_EQ(errors.held[at], error(tile, 0)) << "held, tile " << tile;
      for (int l = 1; l < levels; ++l) {
        ASSERT_EQ(errors.means[static_cast<std::size_t>(l) - 1][at], error(tile, l))
            << "level " << l << " tile " << tile;
      }
    }
  }

 private:
  int width() const { return layout_.planes[0].width; }

  const CpuPyramid& pyramid_;
  PyramidLayout layout_;
  ErrorMeasure measure_;
  std::vector<int> held_;
};

struct Case {
  PixelLayout layout;
  int width, height, levels;
};
constexpr Case kCases[] = {{PixelLayout::kI420, 1, 1, 7},     {PixelLayout::kI420, 97, 50, 7},
                           {PixelLayout::kNv12, 320, 272, 7}, {PixelLayout::kP016, 65, 129, 3},
                           {PixelLayout::kRgba8, 130, 63, 7}, {PixelLayout::kI420p16, 48, 31, 1}};

int below(std::mt19937& rng, int end) { return static_cast<int>(rng() % static_cast<unsigned>(end)); }

void run(const Case& at, const ErrorMeasure& measure, unsigned seed) {
  SCOPED_TRACE(fmt::format("{} {}x{} levels {} power {} noise {} seed {}", name(at.layout), at.width, at.height,
                           at.levels, measure.power, measure.noise, seed));
  std::mt19937 rng(seed);
  TestFrame frame(at.layout, at.width, at.height, usual_shift(at.layout));
  frame.randomize(rng);
  const PyramidLayout layout = make_pyramid_layout(at.width, at.height, texture_format(at.layout), at.levels);
  CpuPyramid pyramid(layout);
  CpuTileDiffer differ(pyramid, {});
  CpuHeldPicture held(pyramid, measure);
  Definition truth(pyramid, measure);
  for (int step = 0; step < 8; ++step) {
    if (step > 0) frame.randomize(rng, 0, 0, 1 + below(rng, at.width) / 2, 1 + at.height / 3);
    const Damage& damage = differ.diff(frame.view());
    pyramid.upload(frame.view(), damage);
    pyramid.refresh_mips(damage);
    held.note(damage);
    if (rng() % 3 == 0) continue;  // damage of several frames
    truth.expect(held.measure(), held.levels());
    if (testing::Test::HasFailure()) return;
    std::vector<Square> squares;
    for (int n = below(rng, 5); n > 0; --n) {
      const int level = below(rng, held.levels()), side = 1 << level;
      squares.push_back({level, below(rng, (layout.tiles.cols + side - 1) / side),
                         below(rng, (layout.tiles.rows + side - 1) / side)});
    }
    held.hold(squares);
    for (const Square& square : squares) truth.hold(square);
    truth.expect(held.measure(), held.levels());
    if (testing::Test::HasFailure()) return;
    if (rng() % 2 == 0) {
      const int x = below(rng, layout.tiles.cols);
      const TileRect tiles{x, 0, layout.tiles.cols - x, 1};
      held.forget(tiles);
      truth.forget(tiles);
    }
  }
  held.forget();
  truth.forget({0, 0, layout.padded_tiles.cols, layout.padded_tiles.rows});
  truth.expect(held.measure(), held.levels());
}

TEST(HeldPicture, ErrorsKeptUp_EqualTheDefinition) {
  for (const Case& at : kCases) {
    for (const ErrorMeasure& measure : kMeasures) {
      for (unsigned seed = 0; seed < 2; ++seed) run(at, measure, seed);
      if (HasFailure()) return;
    }
  }
}

// By hand: black, held as grey 128, is 128^2 off at each of 32 x 16 pixels; once all is sent nothing is.
TEST(HeldPicture, BlackFrame_IsGreyUntilItIsSent) {
  TestFrame frame(PixelLayout::kI420, 32, 16);
  frame.for_each_sample([&](int plane, int x, int y, int c) { frame.set(plane, x, y, c, 0); });
  CpuPyramid pyramid(make_pyramid_layout(32, 16, TextureFormat::kYuv8));
  CpuTileDiffer differ(pyramid, {});
  const Damage& damage = differ.diff(frame.view());
  pyramid.upload(frame.view(), damage);
  pyramid.refresh_mips(damage);
  CpuHeldPicture held(pyramid, {.power = 2, .noise = 0});
  const TileErrors before = held.measure();
  EXPECT_EQ(before.held[0], 128U * 128U * 256U);
  EXPECT_EQ(before.held[1], 128U * 128U * 256U);
  EXPECT_EQ(before.means[3][0], 0U);
  const Square all{.level = 1, .x = 0, .y = 0};
  held.hold(std::span(&all, 1));
  EXPECT_EQ(held.measure().held[0], 0U);
  EXPECT_EQ(held.row(15)[31], 0);
  EXPECT_EQ(held.row(0)[32], 128);
}

}  // namespace
}  // namespace saccade::test
