// The bitset and the rectangles its tiles coalesce to.
#include "kernels/damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace saccade::test {
namespace {

void expect_exact_cover(const Damage& damage, const std::vector<TileRect>& rects) {
  const TileGrid grid = damage.grid();
  std::vector<int> covered(static_cast<std::size_t>(grid.count()));
  for (const TileRect& rect : rects) {
    ASSERT_TRUE(rect.width > 0 && rect.height > 0 && rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= grid.cols &&
                rect.y + rect.height <= grid.rows);
    for (int y = rect.y; y < rect.y + rect.height; ++y) {
      for (int x = rect.x; x < rect.x + rect.width; ++x) ++covered[static_cast<std::size_t>(y * grid.cols + x)];
    }
  }
  for (int t = 0; t < grid.count(); ++t) ASSERT_EQ(covered[static_cast<std::size_t>(t)], damage.test(t) ? 1 : 0) << t;
  ASSERT_TRUE(std::is_sorted(rects.begin(), rects.end(),
                             [](const TileRect& a, const TileRect& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }));
}

// No two rectangles with the same columns touch: equal runs of consecutive rows are one rectangle.
void expect_merged(const std::vector<TileRect>& rects) {
  for (const TileRect& a : rects) {
    for (const TileRect& b : rects) {
      ASSERT_FALSE(a.x == b.x && a.width == b.width && a.y + a.height == b.y);
      ASSERT_FALSE(a.y < b.y + b.height && b.y < a.y + a.height && a.x + a.width == b.x) << "a run is split";
    }
  }
}

TEST(DamageRects, AnyTiles_AreCoveredExactly) {
  std::vector<TileRect> rects;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 rng(seed);
    std::uniform_int_distribution<int> side(1, seed % 3 == 0 ? 70 : 9);
    Damage damage({side(rng), side(rng)});
    std::bernoulli_distribution chosen(std::uniform_real_distribution<double>(0.0, 1.0)(rng));
    for (int t = 0; t < damage.grid().count(); ++t) {
      if (chosen(rng)) damage.set(t);
    }
    damage.rects(rects);
    ASSERT_NO_FATAL_FAILURE(expect_exact_cover(damage, rects)) << "seed " << seed;
    if (damage.grid().count() < 200) {
      ASSERT_NO_FATAL_FAILURE(expect_merged(rects)) << "seed " << seed;
    }
  }
}

TEST(DamageRects, EqualRuns_AreMerged) {
  Damage damage({5, 4});
  // . x x . x
  // . x x . x
  // x x x . .
  // . x x . x
  for (const int t : {1, 2, 4, 6, 7, 9, 10, 11, 12, 16, 17, 19}) damage.set(t);
  std::vector<TileRect> rects;
  damage.rects(rects);
  const std::vector<TileRect> expected{{1, 0, 2, 2}, {4, 0, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 1}, {4, 3, 1, 1}};
  EXPECT_EQ(rects, expected);
}

TEST(DamageRects, NoneOrAll_IsNoneOrOne) {
  Damage damage({13, 7});
  std::vector<TileRect> rects{{1, 1, 1, 1}};
  damage.rects(rects);
  EXPECT_TRUE(rects.empty());
  damage.set_all();
  damage.rects(rects);
  EXPECT_EQ(rects, (std::vector<TileRect>{{0, 0, 13, 7}}));
}

}  // namespace
}  // namespace saccade::test
