#include "ui/picture/tile_freshness.h"

#include <gtest/gtest.h>

namespace saccade::ui {
namespace {

TEST(TileFreshness, Damage_FadesWithinASecond) {
  TileFreshness fresh;
  Damage damage({4, 2});
  damage.set(5);
  fresh.note(damage, 0);
  EXPECT_EQ(fresh.values()[5], 255);
  EXPECT_EQ(fresh.values()[4], 0);
  const Damage none({4, 2});
  fresh.note(none, 500'000'000);
  EXPECT_EQ(fresh.values()[5], 127);
  fresh.note(none, 1'000'000'000);
  EXPECT_EQ(fresh.values()[5], 0);
}

TEST(TileFreshness, TimeThatJumpsBack_Forgets) {
  TileFreshness fresh;
  Damage damage({3, 1});
  damage.set(0);
  fresh.note(damage, 2'000'000'000);
  Damage other({3, 1});
  other.set(1);
  fresh.note(other, 1'000'000'000);
  EXPECT_EQ(fresh.values()[0], 0);
  EXPECT_EQ(fresh.values()[1], 255);
}

TEST(TileFreshness, AnotherSize_Restarts) {
  TileFreshness fresh;
  Damage damage({3, 1});
  damage.set_all();
  fresh.note(damage, 0);
  fresh.note(Damage({2, 2}), 1000);
  EXPECT_EQ(fresh.values(), std::vector<std::uint8_t>(4, 0));
}

}  // namespace
}  // namespace saccade::ui
