// What a device is told of places is enough to say what the host would: the same marks, from the same damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/device_texture.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/run/changed/patch_history.h"

namespace saccade {
namespace {

// The rule of kernels/cuda/places.cu, plainly: all places are read before one is written.
class PlainPlaces {
 public:
  PlainPlaces(std::size_t tiles, int cols, std::size_t places) : damaged_at_(tiles), emitted_(places), cols_(cols) {}

  void note(const Damage& damage) {
    ++now_;
    damage.for_each([this](int tile) { damaged_at_[static_cast<std::size_t>(tile)] = now_; });
  }
  std::vector<std::uint8_t> mark(const std::vector<PlaceRecord>& records) {
    std::vector<std::uint8_t> changed;
    for (const PlaceRecord& record : records) changed.push_back(is_changed(record) ? 1 : 0);
    for (const PlaceRecord& record : records) emitted_[static_cast<std::size_t>(record.place)] = now_;
    return changed;
  }

 private:
  bool is_changed(const PlaceRecord& record) const {
    if (record.known != PlaceRecord::kEmitted) return record.known == PlaceRecord::kFresh;
    for (int row = record.row_begin; row < record.row_end; ++row) {
      for (int col = record.col_begin; col < record.col_end; ++col) {
        if (damaged_at_[static_cast<std::size_t>(row * cols_ + col)] > emitted_[static_cast<std::size_t>(record.place)])
          return true;
      }
    }
    return false;
  }

  std::vector<std::uint64_t> damaged_at_, emitted_;
  std::uint64_t now_ = 0;
  int cols_;
};

void expect_same_marks(const LatticeConfig& config, int width, int height, unsigned seed) {
  SCOPED_TRACE(testing::Message() << width << "x" << height << " seed " << seed);
  std::mt19937 random(seed);
  const PyramidLayout layout = make_pyramid_layout(width, height, TextureFormat::kYuv8);
  const auto lattice = make_lattice(config, {width, height});
  PatchHistory host(layout, lattice->patch_count()), device(layout, lattice->patch_count());
  PlainPlaces places(static_cast<std::size_t>(layout.tiles.count()), layout.tiles.cols, device.places());
  PatchPlan plan;
  plan.patch_size = config.patch_size;
  std::vector<std::uint8_t> wanted;
  std::vector<PlaceRecord> records;
  Damage damage(layout.tiles);
  damage.set_all();
  std::size_t unchanged = 0;
  for (int frame = 0; frame < 60; ++frame) {
    host.note_damage(damage);
    device.note_frame();
    places.note(damage);
    if (random() % 3 != 0) {
      lattice->plan(static_cast<float>(random() % 4) / 3, static_cast<float>(random() % 3) / 2, plan);
      host.mark(plan, {}, wanted);
      device.look_up(plan, {}, records);
      ASSERT_EQ(places.mark(records), wanted) << frame;
      unchanged += static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), 0));
    }
    if (frame == 40) {  // as after a change of format: both begin again
      host.forget();
      device.forget();
    }
    damage.clear();
    for (auto n = random() % 4; n > 0; --n) {
      damage.set(static_cast<int>(random() % static_cast<unsigned>(layout.tiles.count())));
    }
  }
  EXPECT_GT(unchanged, 100U);
}

TEST(PlaceRecords, RandomDamageAndFixations_GiveTheHostsMarks) {
  LatticeConfig nested, grid;
  nested.patch_size = grid.patch_size = 8;
  nested.shape = PatchBudget{.patches = 300, .m0 = {}};
  grid.shape = GridShape{.patches = 60, .acuity = {}};
  for (unsigned seed = 1; seed <= 6; ++seed) {
    expect_same_marks(nested, 333, 211, seed);
    expect_same_marks(grid, 640, 96, seed);
  }
}

// The same place twice in one emission: the second has the bytes of the first.
TEST(PlaceRecords, PlaceTwiceInAnEmission_IsUnchangedTheSecondTime) {
  const PyramidLayout layout = make_pyramid_layout(64, 64, TextureFormat::kYuv8);
  PatchHistory history(layout, 2);
  PatchPlan plan;
  plan.patches = {{32, 32, 0, 1}, {32, 32, 0, 1}};
  std::vector<PlaceRecord> records;
  history.note_frame();
  history.look_up(plan, {}, records);
  EXPECT_EQ(records[0].known, PlaceRecord::kFresh);
  EXPECT_EQ(records[1].known, PlaceRecord::kUnchanged);
}

}  // namespace
}  // namespace saccade
