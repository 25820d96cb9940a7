// The suite's third part: what a receiver holds and how far it is from the picture, kept up from change to change,
// against all of it worked out at once from the definition.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "kernels/held_picture.h"
#include "tests/kernels/backend_suite.h"
#include "tests/support/allocation_counter.h"

namespace saccade::test {

// The whole picture as the definition has it: pixels, padded.
class HeldTruth {
 public:
  HeldTruth(const PyramidLayout& layout, const ErrorMeasure& measure) : layout_(layout), measure_(measure) {
    held_.assign(static_cast<std::size_t>(width() * layout_.planes[0].height), 128);
    held_chroma_.assign(static_cast<std::size_t>(layout_.tiles.count()), {128, 128});
  }

  // The texture was updated.
  void read(const Levels& texture) {
    for (int l = 0; l < levels(); ++l) texture.read_level(0, l, images_[static_cast<std::size_t>(l)]);
    const int levels_of_chroma = layout_.planes[chroma_plane()].levels;
    chroma_level_ = std::min(layout_.format == TextureFormat::kRgba8 ? 4 : 3, levels_of_chroma - 1);
    texture.read_level(static_cast<int>(chroma_plane()), chroma_level_, chroma_);
  }
  int levels() const { return std::min(layout_.levels, kSquareLevels); }

  void hold(const Square& square) {
    const int side = 16 << square.level;
    for (int y = square.y * side; y < std::min((square.y + 1) * side, layout_.planes[0].height); ++y) {
      for (int x = square.x * side; x < std::min((square.x + 1) * side, width()); ++x) {
        held(x, y) = code(square.level, x, y);
      }
    }
    for (int tile = 0; tile < layout_.tiles.count(); ++tile) {
      const int x = tile % layout_.tiles.cols * 16 / side, y = tile / layout_.tiles.cols * 16 / side;
      if (x == square.x && y == square.y) held_chroma_[static_cast<std::size_t>(tile)] = chroma(tile);
    }
  }
  void forget(const TileRect& tiles) {
    for (int y = tiles.y * 16; y < (tiles.y + tiles.height) * 16; ++y) {
      for (int x = tiles.x * 16; x < (tiles.x + tiles.width) * 16; ++x) held(x, y) = 128;
    }
    for (int y = tiles.y; y < tiles.y + tiles.height; ++y) {
      for (int x = tiles.x; x < tiles.x + tiles.width; ++x) {
        held_chroma_[static_cast<std::size_t>(y * layout_.tiles.cols + x)] = {128, 128};
      }
    }
  }
  void forget() { forget({0, 0, layout_.tiles.cols, layout_.tiles.rows}); }

  void expect(const TileErrors& errors) {
    ASSERT_EQ(errors.held.size(), static_cast<std::size_t>(layout_.tiles.count()));
    for (int tile = 0; tile < layout_.tiles.count(); ++tile) {
      const auto at = static_cast<std::size_t>(tile);
      const std::uint64_t all = std::uint64_t{error(tile, 0)} + chroma_error(tile);
      ASSERT_EQ(errors.held[at], std::min<std::uint64_t>(all, 0xffffffffU)) << "held, tile " << tile;
      for (int l = 1; l < levels(); ++l) {
        ASSERT_EQ(errors.means[static_cast<std::size_t>(l) - 1][at], error(tile, l))
            << "level " << l << " tile " << tile;
      }
    }
  }

 private:
  int width() const { return layout_.planes[0].width; }
  int& held(int x, int y) { return held_[static_cast<std::size_t>(y * width() + x)]; }

  // Luma of the texel of this level that pixel (x, y) lies in.
  int code(int level, int x, int y) const {
    const LevelImage& image = images_[static_cast<std::size_t>(level)];
    const int texel_bytes = image.channels * image.bytes_per_channel;
    const std::uint8_t* at = image.data.data() + ((y >> level) * image.width + (x >> level)) * texel_bytes;
    if (layout_.format == TextureFormat::kRgba8) return (at[0] + 2 * at[1] + at[2] + 2) >> 2;
    if (layout_.format == TextureFormat::kYuv8) return at[0];
    std::uint16_t wide = 0;
    std::memcpy(&wide, at, 2);
    return wide >> 8;
  }
  std::size_t chroma_plane() const { return layout_.format == TextureFormat::kRgba8 ? 0 : 1; }
  // The tile's mean Cb and Cr. Of R'G'B': half of what blue and red lie above luma, from 128 on.
  std::array<int, 2> chroma(int tile) const {
    const bool rgb = layout_.format == TextureFormat::kRgba8;
    const int side = (rgb ? 16 : 8) >> chroma_level_, bytes = chroma_.bytes_per_channel;
    std::array<int, 3> sums{};
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const int row = tile / layout_.tiles.cols * side + y, column = tile % layout_.tiles.cols * side + x;
        const std::uint8_t* texel = chroma_.data.data() + (row * chroma_.width + column) * chroma_.channels * bytes;
        // Little-endian: the upper byte is the last.
        for (int c = 0; c < (rgb ? 3 : 2); ++c) sums[static_cast<std::size_t>(c)] += texel[c * bytes + bytes - 1];
      }
    }
    for (int& sum : sums) sum = (sum + side * side / 2) / (side * side);
    if (!rgb) return {sums[0], sums[1]};
    const int luma = (sums[0] + 2 * sums[1] + sums[2] + 2) / 4;
    return {(sums[2] - luma + 256) / 2, (sums[0] - luma + 256) / 2};
  }
  std::uint32_t chroma_error(int tile) const {
    if (!measure_.chroma) return 0;
    const std::array<int, 2> now = chroma(tile), then = held_chroma_[static_cast<std::size_t>(tile)];
    std::uint32_t sum = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      const int d = std::abs(now[c] - then[c]);
      if (d > measure_.noise) sum += 64U * static_cast<std::uint32_t>(measure_.power == 3 ? d * d * d : d * d);
    }
    return sum;
  }
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

  PyramidLayout layout_;
  ErrorMeasure measure_;
  std::array<LevelImage, kSquareLevels> images_;
  LevelImage chroma_;
  int chroma_level_ = 0;
  std::vector<int> held_;
  std::vector<std::array<int, 2>> held_chroma_;  // of each tile
};

inline int below(std::mt19937& rng, int end) { return static_cast<int>(rng() % static_cast<unsigned>(end)); }

// Some overlap.
inline std::vector<Square> random_squares(std::mt19937& rng, TileGrid grid, int levels, int count) {
  std::vector<Square> squares;
  for (int n = 0; n < count; ++n) {
    const int level = below(rng, levels), side = 1 << level;
    squares.push_back({level, below(rng, (grid.cols + side - 1) / side), below(rng, (grid.rows + side - 1) / side)});
  }
  return squares;
}

inline TileRect random_rect(std::mt19937& rng, TileGrid grid) {
  const int x = below(rng, grid.cols), y = below(rng, grid.rows);
  return {x, y, 1 + below(rng, grid.cols - x), 1 + below(rng, grid.rows - y)};
}

// Damage of several frames between looks, looks with nothing new, squares that overlap, and forgetting at any moment.
TEST_P(BackendSuite, HeldErrors_EqualTheDefinition) {
  constexpr ErrorMeasure kMeasures[] = {{3, 8, true}, {2, 0, false}, {2, 2, true}, {3, 0, true}};
  constexpr DiffConfig kDiffs[] = {{0, 0, 8}, {3, 0, 8}};
  unsigned seed = 900;
  for (const PixelLayout layout : kLayouts) {
    for (const SuiteSize size : kSuiteSizes) {
      for (const int levels : {1, 3, 7}) {
        const SuiteCase c{layout, size.width, size.height, levels, ++seed};
        const ErrorMeasure& measure = kMeasures[seed % std::size(kMeasures)];
        SCOPED_TRACE(fmt::format("{} power {} noise {}", c.text(), measure.power, measure.noise));
        std::mt19937 rng(seed);
        TestFrame frame = c.frame();
        frame.randomize(rng);
        const auto texture = make(c.shape(), kDiffs[seed / 4 % 2], seed % 8 == 0);
        const auto held = texture->make_held_picture(measure);
        HeldTruth truth(c.shape(), measure);
        ASSERT_EQ(held->levels(), truth.levels());
        for (std::size_t step = 0; step < 6; ++step) {
          if (step > 0) disturb(frame, rng, kSuiteShares[(step + seed) % kSuiteShares.size()]);
          texture->update(place(frame.view(), seed));
          held->note(texture->damage());
          truth.read(*texture);
          if (rng() % 3 == 0) continue;
          ASSERT_NO_FATAL_FAILURE(truth.expect(held->measure())) << "step " << step;
          const auto squares = random_squares(rng, c.shape().tiles, held->levels(), below(rng, 6));
          held->hold(squares);
          for (const Square& square : squares) truth.hold(square);
          if (rng() % 2 == 0) {
            ASSERT_NO_FATAL_FAILURE(truth.expect(held->measure())) << "sent, step " << step;
          }
          if (rng() % 2 != 0) continue;
          const TileRect lost = random_rect(rng, c.shape().tiles);
          held->forget(lost);
          truth.forget(lost);
        }
        ASSERT_NO_FATAL_FAILURE(truth.expect(held->measure()));
        held->forget();
        truth.forget();
        ASSERT_NO_FATAL_FAILURE(truth.expect(held->measure())) << "forgotten";
      }
    }
  }
}

// By hand: black, held as grey 128, is 128^2 off at each of 32 x 16 pixels; once it is sent nothing is; then white.
TEST_P(BackendSuite, BlackFrame_IsHeldAsGreyUntilItIsSent) {
  TestFrame frame(PixelLayout::kI420, 32, 16);
  frame.for_each_sample([&](int plane, int x, int y, int c) { frame.set(plane, x, y, c, 0); });
  const auto texture = make(make_pyramid_layout(32, 16, TextureFormat::kYuv8));
  const auto held = texture->make_held_picture({.power = 2, .noise = 0, .chroma = false});
  const auto show = [&] {
    texture->update(place(frame.view()));
    held->note(texture->damage());
  };
  show();
  const TileErrors before = held->measure();
  EXPECT_EQ(before.held[0], 128U * 128U * 256U);
  EXPECT_EQ(before.held[1], 128U * 128U * 256U);
  EXPECT_EQ(before.means[3][0], 0U);
  const Square all{.level = 1, .x = 0, .y = 0};
  held->hold(std::span(&all, 1));
  EXPECT_EQ(held->measure().held[0], 0U);
  frame.for_each_sample([&](int plane, int x, int y, int c) { frame.set(plane, x, y, c, 255); });
  show();
  EXPECT_EQ(held->measure().held[0], 255U * 255U * 256U);
  held->forget({1, 0, 1, 1});
  EXPECT_EQ(held->measure().held[0], 255U * 255U * 256U);
  EXPECT_EQ(held->measure().held[1], 127U * 127U * 256U);
}

// By hand: grey of luma 81 becomes red of luma 81 (Cb 90, Cr 240, as BT.601 has it) in one of two tiles.
TEST_P(BackendSuite, ColourThatChangesAtEqualLuma_IsLacking) {
  TestFrame frame(PixelLayout::kI420, 32, 16);
  frame.for_each_sample([&](int plane, int x, int y, int c) { frame.set(plane, x, y, c, plane == 0 ? 81 : 128); });
  const auto texture = make(make_pyramid_layout(32, 16, TextureFormat::kYuv8));
  const auto held = texture->make_held_picture({.power = 2, .noise = 1, .chroma = true});
  const auto show = [&] {
    texture->update(place(frame.view()));
    held->note(texture->damage());
  };
  show();
  const Square all{.level = 1, .x = 0, .y = 0};
  held->measure();
  held->hold(std::span(&all, 1));
  EXPECT_EQ(held->measure().held[0], 0U);
  frame.for_each_sample([&](int plane, int x, int y, int c) {
    if (plane > 0 && x < 8) frame.set(plane, x, y, c, c == 0 ? 90 : 240);
  });
  show();
  EXPECT_EQ(held->measure().held[0], 64U * (38U * 38U + 112U * 112U));
  EXPECT_EQ(held->measure().held[1], 0U);
  held->hold(std::span(&all, 1));
  EXPECT_EQ(held->measure().held[0], 0U);
}

TEST_P(BackendSuite, Looks_AllocateNothing) {
  std::mt19937 rng(7);
  TestFrame frame(PixelLayout::kRgba8, 200, 150);
  frame.randomize(rng);
  const PyramidLayout shape = make_pyramid_layout(200, 150, TextureFormat::kRgba8);
  const auto texture = make(shape);
  const auto held = texture->make_held_picture({});
  texture->update(place(frame.view()));
  const Damage& damage = texture->damage();
  const auto squares = random_squares(rng, shape.tiles, held->levels(), 20);
  const auto look = [&] {
    held->note(damage);
    held->measure();
    held->hold(squares);
    held->forget({1, 1, 2, 2});
    held->measure();
  };
  look();
  const long before = allocation_count();
  look();
  look();
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace saccade::test
