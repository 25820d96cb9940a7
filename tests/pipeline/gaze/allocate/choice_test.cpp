// The choice of squares against the best sets of every size, found by dynamic programming over sizes.
#include "pipeline/gaze/allocate/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace saccade {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;  // no set of this size

struct Errors {
  TileGrid grid;
  std::vector<std::uint32_t> held;
  std::array<std::vector<std::uint32_t>, kSquareLevels - 1> means;
  std::vector<Weight> weights;

  TileErrors view() const { return {held, {means[0], means[1], means[2], means[3]}}; }
  std::int64_t tile_gain(int level, int x, int y) const {
    if (x >= grid.cols || y >= grid.rows) return 0;
    const auto tile = static_cast<std::size_t>(y * grid.cols + x);
    const std::int64_t left = level == 0 ? 0 : means[static_cast<std::size_t>(level) - 1][tile];
    const std::int64_t gain = std::int64_t{held[tile]} - left;
    return weights.empty() ? gain : gain * weights[tile] >> 16;
  }
  std::int64_t gain(const Square& square) const {
    std::int64_t sum = 0;
    for (int y = square.y << square.level; y < (square.y + 1) << square.level; ++y) {
      for (int x = square.x << square.level; x < (square.x + 1) << square.level; ++x) {
        sum += tile_gain(square.level, x, y);
      }
    }
    return sum;
  }
};

// 0 to `most`.
std::uint32_t any(std::mt19937& rng, std::uint32_t most) {
  return static_cast<std::uint32_t>(rng() % (std::uint64_t{most} + 1));
}

// most: of an error. Coarser levels leave more, as pictures have it, but not always.
Errors random_errors(std::mt19937& rng, TileGrid grid, std::uint32_t most, bool weighted) {
  Errors errors{.grid = grid, .held = {}, .means = {}, .weights = {}};
  for (int tile = 0; tile < grid.count(); ++tile) {
    std::uint32_t left = most / 8;
    errors.held.push_back(rng() % 3 == 0 ? 0 : any(rng, most));
    for (auto& level : errors.means) {
      level.push_back(any(rng, left));
      left = std::min(left * 2, most);
    }
    if (weighted) errors.weights.push_back(rng() % 4 == 0 ? 0 : any(rng, kFullWeight));
  }
  return errors;
}

// [n]: the most that n squares gain which don't overlap, below this one or as it.
std::vector<std::int64_t> best_of(const Errors& errors, const Square& node) {
  std::vector<std::int64_t> best{0};
  if (node.level > 0) {
    for (int part = 0; part < 4; ++part) {
      const auto more = best_of(errors, {node.level - 1, 2 * node.x + part % 2, 2 * node.y + part / 2});
      std::vector<std::int64_t> sum(best.size() + more.size() - 1, kNone);
      for (std::size_t a = 0; a < best.size(); ++a) {
        for (std::size_t b = 0; b < more.size(); ++b) sum[a + b] = std::max(sum[a + b], best[a] + more[b]);
      }
      best = std::move(sum);
    }
  }
  if (best.size() < 2) best.push_back(kNone);
  best[1] = std::max(best[1], errors.gain(node));
  return best;
}

std::vector<std::int64_t> best_of(const Errors& errors, int levels) {
  const int side = 1 << (levels - 1);
  std::vector<std::int64_t> best{0};
  for (int y = 0; y * side < errors.grid.rows; ++y) {
    for (int x = 0; x * side < errors.grid.cols; ++x) {
      const auto more = best_of(errors, {levels - 1, x, y});
      std::vector<std::int64_t> sum(best.size() + more.size() - 1, kNone);
      for (std::size_t a = 0; a < best.size(); ++a) {
        for (std::size_t b = 0; b < more.size(); ++b) sum[a + b] = std::max(sum[a + b], best[a] + more[b]);
      }
      best = std::move(sum);
    }
  }
  return best;
}

std::int64_t gain_of(const Errors& errors, std::span<const Square> squares) {
  std::int64_t sum = 0;
  for (const Square& square : squares) sum += errors.gain(square);
  return sum;
}

void expect_sound(const Errors& errors, std::span<const Square> squares, int levels) {
  std::set<std::pair<int, int>> tiles;
  std::size_t covered = 0;
  for (const Square& square : squares) {
    EXPECT_TRUE(square.level >= 0 && square.level < levels);
    EXPECT_TRUE(square.x << square.level < errors.grid.cols && square.y << square.level < errors.grid.rows);
    EXPECT_GT(errors.gain(square), 1);
    for (int y = square.y << square.level; y < (square.y + 1) << square.level; ++y) {
      for (int x = square.x << square.level; x < (square.x + 1) << square.level; ++x) tiles.insert({x, y});
    }
    covered += std::size_t{1} << 2 * square.level;
  }
  EXPECT_EQ(tiles.size(), covered) << "squares overlap";
}

// The largest size up to `most` whose best set lies on the upper hull of all sizes: what one price can give.
std::size_t hull_size(const std::vector<std::int64_t>& best, std::size_t most) {
  std::vector<std::size_t> hull;
  for (std::size_t n = 0; n < best.size(); ++n) {
    const auto below = [&](std::size_t a, std::size_t b) {  // b on or below the line from a to n
      return (best[b] - best[a]) * static_cast<std::int64_t>(n - a) <=
             (best[n] - best[a]) * static_cast<std::int64_t>(b - a);
    };
    while (hull.size() > 1 && below(hull[hull.size() - 2], hull.back())) hull.pop_back();
    hull.push_back(n);
  }
  std::size_t size = 0;
  for (const std::size_t n : hull) {
    if (n <= most && best[n] > best[size] + static_cast<std::int64_t>(n - size)) size = n;
  }
  return size;
}

struct Case {
  TileGrid grid;
  int levels;
};
constexpr Case kCases[] = {{{1, 1}, 1}, {{1, 1}, 5}, {{3, 2}, 2}, {{4, 4}, 3}, {{5, 3}, 3}, {{7, 9}, 4}, {{16, 12}, 5}};

template <typename F>
void for_each_case(F&& f) {
  for (const Case& at : kCases) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(testing::Message() << at.grid.cols << "x" << at.grid.rows << " levels " << at.levels << " seed "
                                      << seed);
      std::mt19937 rng(seed);
      constexpr std::uint32_t kMost[] = {3, 40, 1'000'000, 4'244'832'000};  // ties, and the largest error of a tile
      f(at, random_errors(rng, at.grid, kMost[seed % 4], seed % 3 == 0));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(SquareChoice, AtMost_GainsAsMuchAsTheBestSetOfItsSize) {
  for_each_case([](const Case& at, const Errors& errors) {
    const auto best = best_of(errors, at.levels);
    SquareChoice choice(at.grid, at.levels);
    choice.rate(errors.view(), errors.weights);
    for (const int budget : {0, 1, 2, 3, 5, 8, 13, 40, 1000}) {
      const auto squares = choice.at_most(budget);
      ASSERT_LE(squares.size(), static_cast<std::size_t>(budget));
      expect_sound(errors, squares, at.levels);
      const auto count = static_cast<std::int64_t>(squares.size());
      ASSERT_GE(gain_of(errors, squares) + count, best[squares.size()]) << budget;
      ASSERT_GE(squares.size(), hull_size(best, static_cast<std::size_t>(budget))) << budget;
    }
  });
}

TEST(SquareChoice, ThatGain_IsReachedByTheFewestOfOnePrice) {
  for_each_case([](const Case& at, const Errors& errors) {
    SquareChoice choice(at.grid, at.levels);
    choice.rate(errors.view(), errors.weights);
    const auto best = best_of(errors, at.levels);
    const std::int64_t all = gain_of(errors, choice.at_most(1 << 20));
    EXPECT_TRUE(choice.that_gain(0).empty());
    for (const double share : {0.1, 0.5, 0.9, 1.0}) {
      const auto goal = static_cast<std::int64_t>(share * static_cast<double>(all));
      const auto squares = choice.that_gain(goal);
      const std::int64_t gained = gain_of(errors, squares);
      const auto count = static_cast<int>(squares.size());
      expect_sound(errors, squares, at.levels);
      ASSERT_GE(gained, goal) << share;
      if (count == 0) continue;
      const std::size_t fewer = hull_size(best, static_cast<std::size_t>(count) - 1);
      ASSERT_LT(best[fewer], goal + count) << share;
    }
    const std::int64_t most = gain_of(errors, choice.that_gain(all + 1));
    ASSERT_EQ(most, all);
  });
}

// The price of the choice before is where the next search starts.
TEST(SquareChoice, ChoiceBefore_ChangesNothing) {
  for_each_case([](const Case& at, const Errors& errors) {
    const Errors flat{.grid = at.grid,
                      .held = std::vector<std::uint32_t>(errors.held.size(), 9),
                      .means = errors.means,
                      .weights = {}};
    SquareChoice used(at.grid, at.levels);
    for (const int budget : {1, 3, 8, 40}) {
      SquareChoice fresh(at.grid, at.levels);
      used.rate(flat.view());
      (void)used.at_most(budget);
      for (SquareChoice* choice : {&fresh, &used}) choice->rate(errors.view(), errors.weights);
      const auto squares = fresh.at_most(budget);
      ASSERT_THAT(used.at_most(budget), testing::ElementsAreArray(squares)) << budget;
      const std::int64_t half = gain_of(errors, squares) / 2;
      (void)used.at_most(1000);
      SquareChoice other(at.grid, at.levels);
      other.rate(errors.view(), errors.weights);
      ASSERT_THAT(used.that_gain(half), testing::ElementsAreArray(other.that_gain(half))) << budget;
    }
  });
}

TEST(SquareChoice, EqualErrors_AreTakenInTheOrderOfTheTree) {
  Errors errors{.grid = {4, 4}, .held = std::vector<std::uint32_t>(16, 10), .means = {}, .weights = {}};
  for (auto& level : errors.means) level.assign(16, 10);  // means show nothing
  SquareChoice choice(errors.grid, 3);
  choice.rate(errors.view());
  const auto squares = choice.at_most(5);
  EXPECT_THAT(squares, testing::ElementsAre(Square{0, 0, 0}, Square{0, 1, 0}, Square{0, 0, 1}, Square{0, 1, 1},
                                            Square{0, 2, 0}));
}

TEST(SquareChoice, SquareThatGainsNoMoreThanItsParts_IsOne) {
  Errors errors{.grid = {4, 4}, .held = std::vector<std::uint32_t>(16, 10), .means = {}, .weights = {}};
  for (auto& level : errors.means) level.assign(16, 0);  // means show all
  SquareChoice choice(errors.grid, 3);
  choice.rate(errors.view());
  EXPECT_THAT(choice.at_most(100), testing::ElementsAre(Square{2, 0, 0}));
}

TEST(SquareChoice, ExcludedSquares_AreSentAsTheirParts) {
  Errors errors{.grid = {6, 4}, .held = std::vector<std::uint32_t>(24, 10), .means = {}, .weights = {}};
  for (auto& level : errors.means) level.assign(24, 0);
  SquareChoice choice(errors.grid, 3);
  choice.exclude({2, 1, 0});
  choice.exclude({1, 2, 1});
  choice.rate(errors.view());
  EXPECT_THAT(choice.at_most(100), testing::ElementsAre(Square{2, 0, 0}, Square{1, 2, 0}, Square{0, 4, 2},
                                                        Square{0, 5, 2}, Square{0, 4, 3}, Square{0, 5, 3}));
}

TEST(SquareChoice, NoError_SendsNothing) {
  Errors errors{.grid = {9, 5}, .held = std::vector<std::uint32_t>(45), .means = {}, .weights = {}};
  for (auto& level : errors.means) level.assign(45, 0);
  SquareChoice choice(errors.grid, 5);
  choice.rate(errors.view());
  EXPECT_TRUE(choice.at_most(100).empty());
  EXPECT_TRUE(choice.that_gain(1).empty());
}

// By hand: four tiles of 100 each, of which the mean leaves 40; a fifth tile of 70.
// One square: the mean, 4 x 60. Two: and the fifth. Three and four: nothing better. Five: all tiles, 470.
TEST(SquareChoice, BudgetBetweenTwoPrices_KeepsTheCoarseSquare) {
  Errors errors{.grid = {4, 2}, .held = {100, 100, 70, 0, 100, 100, 0, 0}, .means = {}, .weights = {}};
  errors.means[0] = {40, 40, 70, 70, 40, 40, 70, 70};
  for (std::size_t l = 1; l < 4; ++l) errors.means[l].assign(8, 100);
  SquareChoice choice(errors.grid, 2);
  choice.rate(errors.view());
  const int expected[] = {0, 240, 310, 310, 310, 470, 470};
  for (int budget = 0; budget < 7; ++budget) {
    EXPECT_EQ(gain_of(errors, choice.at_most(budget)), expected[budget]) << budget;
  }
}

}  // namespace
}  // namespace saccade
