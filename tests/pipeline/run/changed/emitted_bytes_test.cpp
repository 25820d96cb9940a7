// Emitted bytes against a map that forgets nothing.
#include "pipeline/run/changed/emitted_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace saccade {
namespace {

using Key = std::tuple<float, float, float>;

struct Emitted {
  PatchPlan plan;
  PatchBatch batch;
  std::vector<std::uint8_t> changed;
};

// Patches on a few places, with few different bytes; some lie outside.
void fill(Emitted& e, std::mt19937& random, std::size_t count, int places) {
  e.plan.patch_size = 4;
  e.plan.patches.clear();
  for (std::size_t n = 0; n < count; ++n) {
    const auto place = static_cast<float>(static_cast<int>(n) * places + static_cast<int>(random()) % places);
    e.plan.patches.push_back({.x_px = place, .y_px = 8, .lod = 1, .coverage = random() % 8 == 0 ? 0.0f : 1.0f});
    const auto value = static_cast<std::byte>(random() % 2);
    for (std::byte& byte : e.batch.patch(n)) byte = value;
    e.batch.patch(n).back() = static_cast<std::byte>(random() % 2);
  }
  e.changed.assign(count, 1);
}

TEST(EmittedBytes, FewPlaces_MarkExactlyWhatDiffers) {
  for (const SampleType type : {SampleType::kU8, SampleType::kF16, SampleType::kF32}) {
    std::mt19937 random(7);
    constexpr std::size_t kCount = 20;
    Emitted e{{}, PatchBatch(kCount, 4, {.type = type}), {}};
    EmittedBytes memory(kCount, 4, {.type = type});
    std::map<Key, std::vector<std::byte>> last;
    std::size_t same = 0;
    for (int emission = 0; emission < 300; ++emission) {
      fill(e, random, kCount, 3);
      memory.settle(e.plan, e.batch, e.changed);
      for (std::size_t n = 0; n < kCount; ++n) {
        const Patch& patch = e.plan.patches[n];
        if (patch.coverage == 0) {
          EXPECT_EQ(e.changed[n], 1) << "not its business";
          continue;
        }
        auto& known = last[{patch.x_px, patch.y_px, patch.lod}];
        const auto bytes = std::as_const(e.batch).patch(n);
        const bool equal = std::equal(bytes.begin(), bytes.end(), known.begin(), known.end());
        ASSERT_EQ(e.changed[n], equal ? 0 : 1) << emission << ' ' << n;
        same += equal ? 1 : 0;
        known.assign(bytes.begin(), bytes.end());
      }
    }
    EXPECT_GT(same, 1000U);
  }
}

TEST(EmittedBytes, ManyPlaces_AreForgottenButNeverConfused) {
  std::mt19937 random(8);
  constexpr std::size_t kCount = 20;
  Emitted e{{}, PatchBatch(kCount, 4, {}), {}};
  EmittedBytes memory(kCount, 4, {});
  std::map<Key, std::vector<std::byte>> last;
  for (int emission = 0; emission < 2000; ++emission) {
    fill(e, random, kCount, 100);
    memory.settle(e.plan, e.batch, e.changed);
    for (std::size_t n = 0; n < kCount; ++n) {
      const Patch& patch = e.plan.patches[n];
      if (patch.coverage == 0) continue;
      auto& known = last[{patch.x_px, patch.y_px, patch.lod}];
      const auto bytes = std::as_const(e.batch).patch(n);
      if (e.changed[n] == 0) {
        ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), known.begin(), known.end()));
      }
      known.assign(bytes.begin(), bytes.end());
    }
  }
}

TEST(EmittedBytes, NewOrTooLarge_ChangesNothing) {
  std::mt19937 random(9);
  Emitted e{{}, PatchBatch(8, 4, {}), {}};
  EmittedBytes memory(8, 4, {});
  fill(e, random, 8, 1);
  memory.settle(e.plan, e.batch, e.changed);
  EmittedBytes another(8, 4, {});
  another.settle(e.plan, e.batch, e.changed);
  EXPECT_EQ(std::count(e.changed.begin(), e.changed.end(), 1), 8);
  EmittedBytes large(1'000'000, 256, {});  // 196 GB: nothing is kept
  large.settle(e.plan, e.batch, e.changed);
  EXPECT_EQ(std::count(e.changed.begin(), e.changed.end(), 1), 8);
  EXPECT_TRUE(large.fits(1'000'000, 256, {}));
  EXPECT_FALSE(large.fits(8, 4, {}));
}

TEST(EmittedPlaces, Slots_AreOfOnePatchAndKnownOnlyForIt) {
  std::mt19937 random(11);
  constexpr std::size_t kCount = 64;
  EmittedPlaces places(kCount, 4, {});
  std::map<int, Key> kept;  // by slot
  std::vector<PlaceRecord> records(kCount);
  int known = 0;
  for (int emission = 0; emission < 200; ++emission) {
    Emitted e{{}, PatchBatch(kCount, 4, {}), {}};
    fill(e, random, kCount, 90);
    places.take_all(e.plan, records);
    std::vector<int> taken;
    for (std::size_t n = 0; n < kCount; ++n) {
      const Patch& patch = e.plan.patches[n];
      if (records[n].slot < 0) continue;
      EXPECT_LT(records[n].slot, static_cast<int>(places.slots()));
      EXPECT_GT(patch.coverage, 0);
      const Key key{patch.x_px, patch.y_px, patch.lod};
      const auto found = kept.find(records[n].slot);
      EXPECT_EQ(records[n].slot_known == 1, found != kept.end() && found->second == key);
      kept[records[n].slot] = key;
      taken.push_back(records[n].slot);
      known += records[n].slot_known;
    }
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(std::adjacent_find(taken.begin(), taken.end()), taken.end()) << "two patches, one slot";
  }
  EXPECT_GT(known, 1000);
  const Patch patch{.x_px = 1, .y_px = 2, .lod = 0, .coverage = 1};
  places.begin();
  EXPECT_GE(places.take(patch, EmittedPlaces::Sharing::kRefused).index, 0);
  EXPECT_LT(places.take(patch, EmittedPlaces::Sharing::kRefused).index, 0) << "twice in an emission";
}

}  // namespace
}  // namespace saccade
