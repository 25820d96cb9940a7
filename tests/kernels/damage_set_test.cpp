#include "kernels/damage.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace saccade {
namespace {

std::vector<int> listed(const Damage& damage) {
  std::vector<int> tiles;
  damage.for_each([&](int tile) { tiles.push_back(tile); });
  return tiles;
}

TEST(Damage, SetTiles_AreListedInRisingOrder) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    std::mt19937 random(seed);
    const TileGrid grid{1 + static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 40)};
    Damage damage(grid);
    std::set<int> expected;
    for (int i = 0; i < grid.count(); ++i) {
      const int tile = static_cast<int>(random() % static_cast<unsigned>(grid.count()));
      damage.set(tile, static_cast<std::uint32_t>(random()));
      expected.insert(tile);
    }
    EXPECT_EQ(listed(damage), std::vector<int>(expected.begin(), expected.end())) << "seed " << seed;
    EXPECT_EQ(damage.count(), static_cast<int>(expected.size()));
    EXPECT_DOUBLE_EQ(damage.share(), static_cast<double>(expected.size()) / grid.count());
    for (int tile = 0; tile < grid.count(); ++tile) {
      EXPECT_EQ(damage.test(tile), expected.count(tile) == 1);
      EXPECT_EQ(damage.test(tile % grid.cols, tile / grid.cols), expected.count(tile) == 1);
    }
  }
}

TEST(Damage, SetTwice_CountsOnceWithTheLastEnergy) {
  Damage damage({3, 2});
  damage.set(4, 10);
  damage.set(4, 20);
  EXPECT_EQ(damage.count(), 1);
  EXPECT_EQ(damage.energy()[4], 20U);
  EXPECT_EQ(damage.energy()[3], 0U);
  damage.clear();
  EXPECT_EQ(damage.count(), 0);
  EXPECT_EQ(damage.energy()[4], 0U);
  EXPECT_TRUE(listed(damage).empty());
}

TEST(Damage, SetAll_SetsNoTileBeyondTheGrid) {
  for (const int count : {1, 63, 64, 65, 127, 128, 129}) {
    Damage damage({count, 1});
    damage.set(0, 99);
    damage.set_all();
    EXPECT_TRUE(damage.all());
    EXPECT_EQ(static_cast<int>(listed(damage).size()), count);
    EXPECT_EQ(listed(damage).back(), count - 1);
    EXPECT_EQ(damage.energy()[0], 0U);
    EXPECT_DOUBLE_EQ(damage.share(), 1.0);
  }
}

}  // namespace
}  // namespace saccade
