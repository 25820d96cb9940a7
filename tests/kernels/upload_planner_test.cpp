// What a plan promises, without GL: it covers the damage, stays inside the texture, and is never dearer than the
// simple ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/upload_planner.h"

namespace saccade {
namespace {

constexpr unsigned kSeed = 77;

// Per padded tile: is it covered?
std::vector<bool> cover(const UploadPlan& plan, TileGrid grid) {
  std::vector<bool> covered(static_cast<std::size_t>(grid.count()));
  for (const TileRect& r : plan.rects) {
    EXPECT_GE(r.x, 0);
    EXPECT_GE(r.y, 0);
    EXPECT_LE(r.x + r.width, grid.cols);
    EXPECT_LE(r.y + r.height, grid.rows);
    for (int y = r.y; y < r.y + r.height; ++y) {
      for (int x = r.x; x < r.x + r.width; ++x) covered[static_cast<std::size_t>(y * grid.cols + x)] = true;
    }
  }
  return covered;
}

void expect_covers(const PyramidLayout& layout, const Damage& damage, const UploadPlan& plan) {
  const TileGrid padded = layout.padded_tiles;
  const std::vector<bool> covered = cover(plan, padded);
  for (int y = 0; y < padded.rows; ++y) {
    for (int x = 0; x < padded.cols; ++x) {
      const bool damaged = damage.test(std::min(x, layout.tiles.cols - 1), std::min(y, layout.tiles.rows - 1));
      if (damaged) {
        ASSERT_TRUE(covered[static_cast<std::size_t>(y * padded.cols + x)]) << "tile " << x << "," << y;
      }
    }
  }
}

double exact_cost_us(const PyramidLayout& layout, const Damage& damage, UploadCost cost) {
  UploadPlanner planner(layout, {0.0, cost.byte_us});  // free calls: nothing is joined
  const UploadPlan& plan = planner.plan(damage);
  return plan.calls * cost.call_us + static_cast<double>(plan.bytes) * cost.byte_us;
}

TEST(UploadPlanner, AnyDamage_IsCoveredNoDearerThanSimply) {
  std::mt19937 random(kSeed);
  const std::pair<int, int> sizes[] = {{1, 1}, {17, 15}, {161, 121}, {640, 360}, {1920, 1080}};
  const UploadCost costs[] = {{0.0, 1e-4}, {1.0, 1e-4}, {7.0, 3e-5}, {100.0, 1e-4}, {1.0, 0.0}};
  for (const auto& [width, height] : sizes) {
    for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kRgba8}) {
      const PyramidLayout layout = make_pyramid_layout(width, height, format);
      Damage damage(layout.tiles);
      for (const UploadCost cost : costs) {
        UploadPlanner planner(layout, cost);
        for (const unsigned one_in : {1U, 2U, 10U, 100U, 1000U}) {
          SCOPED_TRACE(::testing::Message() << width << "x" << height << " " << name(format) << " call " << cost.call_us
                                            << " byte " << cost.byte_us << " one in " << one_in << " seed " << kSeed);
          damage.clear();
          for (int i = 0; i < layout.tiles.count(); ++i) {
            if (random() % one_in == 0) damage.set(i);
          }
          const UploadPlan& plan = planner.plan(damage);
          expect_covers(layout, damage, plan);
          EXPECT_LE(plan.cost_us, plan.full_cost_us + 1e-9);
          EXPECT_LE(plan.cost_us, exact_cost_us(layout, damage, cost) + 1e-6);
          EXPECT_EQ(plan.calls, static_cast<int>(plan.rects.size()) * layout.plane_count);
        }
      }
    }
  }
}

TEST(UploadPlanner, NoDamage_IsNoCall) {
  const PyramidLayout layout = make_pyramid_layout(320, 240, TextureFormat::kYuv8);
  UploadPlanner planner(layout, {1, 1e-4});
  const UploadPlan& plan = planner.plan(Damage(layout.tiles));
  EXPECT_TRUE(plan.rects.empty());
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.calls, 0);
  EXPECT_FALSE(plan.full);
}

// By hand, 320x256 yuv8 (no padding): a tile is 16 * 16 + 8 * 8 * 2 = 384 bytes.
TEST(UploadPlanner, GapCheaperThanACall_IsJoined) {
  const PyramidLayout layout = make_pyramid_layout(320, 256, TextureFormat::kYuv8);
  Damage damage(layout.tiles);
  damage.set(5 * layout.tiles.cols + 3);
  damage.set(5 * layout.tiles.cols + 6);        // a gap of two tiles: 768 bytes
  UploadPlanner cheap_calls(layout, {300, 1});  // two planes: 600 < 768
  EXPECT_EQ(cheap_calls.plan(damage).rects.size(), 2U);
  EXPECT_EQ(cheap_calls.plan(damage).bytes, 2 * 384);
  UploadPlanner dear_calls(layout, {400, 1});  // 800 > 768
  const UploadPlan& joined = dear_calls.plan(damage);
  ASSERT_EQ(joined.rects.size(), 1U);
  EXPECT_EQ(joined.rects[0], (TileRect{3, 5, 4, 1}));
  EXPECT_EQ(joined.bytes, 4 * 384);
  EXPECT_DOUBLE_EQ(joined.cost_us, 2 * 400 + 4 * 384);
}

// The measured case: single 64x64 tiles of a tenth of a 1080p frame at 7 us a call lose to the whole frame.
TEST(UploadPlanner, ManyDearCalls_SendEverything) {
  const PyramidLayout layout = make_pyramid_layout(1920, 1080, TextureFormat::kYuv8);
  Damage damage(layout.tiles);
  for (int i = 0; i < layout.tiles.count(); i += 10) damage.set(i);
  damage.set(layout.tiles.count() - 1);
  UploadPlanner planner(layout, {7.0, 180.0 / 3.1e6});
  const UploadPlan& plan = planner.plan(damage);
  EXPECT_TRUE(plan.full);
  EXPECT_EQ(plan.calls, 2);
  EXPECT_EQ(plan.bytes, plan.full_bytes);
  EXPECT_EQ(plan.full_bytes, 1920 * 1088 * 3 / 2);
}

}  // namespace
}  // namespace saccade
