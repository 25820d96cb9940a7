// Tables of sums over tiles and over squares of texels: against sums taken one by one.
#include "pipeline/gaze/novelty/tile_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/tile_set.h"
#include "pipeline/gaze/novelty/block_sums.h"

namespace saccade {
namespace {

TEST(TileSums, AnyValue_IsRoundedAsLlroundDoes) {
  const auto check = [](float scaled) {
    const float value = scaled / 1024.0f;
    ASSERT_EQ(TileSums::rounded(value), std::llround(value * 1024.0f)) << scaled;
  };
  // Halves and whole numbers with their neighbours, as far as a float has halves and beyond.
  for (double whole = 0; whole < (1 << 30); whole += whole < (1 << 16) ? 1 : 1 + std::floor(whole / 4096)) {
    for (const double at : {whole, whole + 0.5}) {
      const auto middle = static_cast<float>(at);
      check(middle);
      check(std::nextafter(middle, 2e9f));
      check(std::nextafter(middle, 0.0f));
    }
  }
  std::mt19937 random(3);
  for (int i = 0; i < 1'000'000; ++i) {
    check(std::ldexp(static_cast<float>(random() >> 8U), static_cast<int>(random() % 60) - 54));
  }
}

TEST(TileSums, Box_HasTheTilesThatAreThere) {
  const TileGrid grid{7, 5};
  std::mt19937 random(1);
  std::vector<float> tiles(static_cast<std::size_t>(grid.count()));
  for (float& value : tiles) value = static_cast<float>(random() % 100'000) / 640.0f;
  TileSums sums(grid);
  sums.sum_up(tiles);
  for (int left = -2; left < 9; ++left) {
    for (int right = left; right < 10; ++right) {
      for (int top = -1; top < 7; ++top) {
        for (int bottom = top; bottom < 8; ++bottom) {
          std::int64_t expected = 0;
          for (int y = std::max(top, 0); y < std::min(bottom, grid.rows); ++y) {
            for (int x = std::max(left, 0); x < std::min(right, grid.cols); ++x) {
              expected += std::llround(tiles[static_cast<std::size_t>(y * grid.cols + x)] * 1024.0f);
            }
          }
          ASSERT_EQ(sums.box(left, top, right, bottom), expected)
              << left << "," << top << " " << right << "," << bottom;
        }
      }
    }
  }
}

TEST(BlockSums, Squares_HoldTheirQuarters) {
  for (const TileGrid grid : {TileGrid{1, 1}, TileGrid{3, 1}, TileGrid{1, 6}, TileGrid{5, 9}, TileGrid{300, 2}}) {
    BlockSums sums(grid);
    std::vector<int> quarters(4 * static_cast<std::size_t>(grid.count()));
    std::mt19937 random(2);
    for (int round = 0; round < 3; ++round) {
      for (int tile = 0; tile < grid.count(); ++tile) {
        if (round > 0 && random() % 5 != 0) continue;
        const auto x = static_cast<std::size_t>(tile % grid.cols), y = static_cast<std::size_t>(tile / grid.cols);
        for (std::size_t i = 0; i < 4; ++i) {
          const int code = static_cast<int>(random() % 4081);
          quarters[(2 * y + i / 2) * 2 * static_cast<std::size_t>(grid.cols) + 2 * x + i % 2] = code;
          sums.quarters(2 * y + i / 2)[2 * x + i % 2] = code;
        }
        sums.note(2 * y + random() % 2);
      }
      sums.refresh();
      for (int side = 4; sums.level_of(side) >= 0; side *= 2) {
        const int of = side / 4, cols = (2 * grid.cols + of - 1) / of, rows = (2 * grid.rows + of - 1) / of;
        std::vector<int> expected(static_cast<std::size_t>(cols * rows));
        for (int y = 0; y < 2 * grid.rows; ++y) {
          for (int x = 0; x < 2 * grid.cols; ++x) {
            expected[static_cast<std::size_t>(y / of * cols + x / of)] +=
                quarters[static_cast<std::size_t>(y * 2 * grid.cols + x)];
          }
        }
        const int* const first = sums.row(sums.level_of(side), 0);
        ASSERT_EQ(std::vector<int>(first, first + expected.size()), expected) << side;
      }
    }
    EXPECT_GE(sums.level_of(64), grid.cols > 8 ? 0 : -1);
    for (const int side : {0, 1, 2, 3, 6, 12, 2048, 1 << 20}) EXPECT_EQ(sums.level_of(side), -1) << side;
  }
}

TEST(TileSet, Runs_EndWithTheirRow) {
  for (const int cols : {1, 31, 64, 70, 129}) {
    const TileGrid grid{cols, 3};
    std::mt19937 random(5);
    for (int share = 0; share <= 4; ++share) {
      TileSet set(grid);
      std::vector<bool> expected(static_cast<std::size_t>(grid.count()));
      for (std::size_t tile = 0; tile < expected.size(); ++tile) {
        expected[tile] = static_cast<int>(random() % 4) < share;
        if (expected[tile]) set.set(tile);
      }
      if (share == 4) set.set_all();
      std::vector<bool> found(expected.size());
      for (std::size_t row = 0; row < 3; ++row) {
        std::size_t past = 0;
        set.for_each_run_in_row(row, [&](std::size_t begin, std::size_t end) {
          ASSERT_LT(begin, end);
          ASSERT_LE(end, static_cast<std::size_t>(cols));
          ASSERT_TRUE(past == 0 || begin > past) << "runs are as long as they can be";
          EXPECT_TRUE(set.any_in_row(row, begin, begin + 1));
          EXPECT_FALSE(past < begin && set.any_in_row(row, past, begin));
          for (past = begin; past < end; ++past) found[row * static_cast<std::size_t>(cols) + past] = true;
        });
      }
      const auto begin = static_cast<std::size_t>(random() % static_cast<unsigned>(cols));
      const auto end = begin + random() % (static_cast<std::size_t>(cols) - begin + 1);
      std::vector<bool> split(end - begin, !expected[static_cast<std::size_t>(cols) + begin]);
      set.split(1, begin, end, [&](std::size_t from, std::size_t to, bool inside) {
        for (; from < to; ++from) split[from - begin] = inside;
      });
      const auto row = expected.begin() + cols;
      EXPECT_EQ(split,
                std::vector<bool>(row + static_cast<std::ptrdiff_t>(begin), row + static_cast<std::ptrdiff_t>(end)));
      EXPECT_EQ(found, expected) << cols << " columns, " << share << " of 4";
    }
  }
}

TEST(TileSet, ChangedRun_LeavesTheOthers) {
  const TileGrid grid{150, 3};
  std::mt19937 random(6);
  TileSet set(grid);
  std::vector<bool> expected(static_cast<std::size_t>(grid.count()));
  for (int i = 0; i < 300; ++i) {
    const std::size_t row = random() % 3, begin = random() % 151, end = begin + random() % (151 - begin);
    const bool into = random() % 2 != 0;
    into ? set.set_run(row, begin, end) : set.clear_run(row, begin, end);
    for (std::size_t x = begin; x < end; ++x) expected[150 * row + x] = into;
    for (std::size_t tile = 0; tile < expected.size(); ++tile) {
      ASSERT_EQ(set.any_in_row(tile / 150, tile % 150, tile % 150 + 1), expected[tile]) << tile << " of run " << i;
    }
  }
}

}  // namespace
}  // namespace saccade
