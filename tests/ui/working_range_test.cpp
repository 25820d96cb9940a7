// What a slider spans: the ends work, and one step past the lower end does not.
#include "ui/tuning/working_range.h"

#include <gtest/gtest.h>

#include "pipeline/error.h"
#include "ui/tuning/settings_edits.h"
#include "ui/tuning/words.h"

namespace saccade::ui {
namespace {

constexpr int kMostTexture = 16384;

bool works(const LatticeConfig& lattice, const FrameGeometry& geometry) {
  try {
    return make_lattice(lattice, geometry) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

TEST(WorkingRange, Patches_BeginWithTheFewestThatCover) {
  for (const FrameGeometry geometry :
       {FrameGeometry{1280, 720, 1.0, 7}, {320, 180, 1.0, 4}, {1920, 1080, 1.0, 5}, {64, 48, 1.5, 3}}) {
    LatticeConfig lattice;
    const WorkingRange range = working_patches(lattice, geometry);
    ASSERT_LE(range.low, range.high);
    for (int patches = range.low; patches <= range.high; patches += 1 + (range.high - range.low) / 7) {
      set_patches(lattice, patches);
      EXPECT_TRUE(works(lattice, geometry)) << patches;
    }
    set_patches(lattice, range.low - 1);
    EXPECT_FALSE(works(lattice, geometry)) << range.low;
    if (range.high == kMostPatches) continue;
    set_patches(lattice, range.high);  // all of full resolution: more change nothing
    const std::size_t all = make_lattice(lattice, geometry)->patch_count();
    set_patches(lattice, 4 * range.high);
    EXPECT_EQ(make_lattice(lattice, geometry)->patch_count(), all);
  }
}

TEST(WorkingRange, Levels_FitTheTextureAndTheLattice) {
  const FrameGeometry geometry{1280, 720, 1.0, 7};
  const LatticeConfig lattice;  // 273 patches can't cover it with few levels
  const WorkingRange range = working_levels(lattice, geometry, kMostTexture);
  EXPECT_GT(range.low, 1);
  EXPECT_EQ(range.high, 15);  // 2^14 texels a side
  EXPECT_EQ(working_levels(lattice, geometry, 4096).high, 13);
  FrameGeometry tried = geometry;
  tried.levels = range.low;
  EXPECT_TRUE(works(lattice, tried));
  tried.levels = range.low - 1;
  EXPECT_FALSE(works(lattice, tried));
  LatticeConfig grid;
  grid.shape = GridShape{};
  EXPECT_EQ(working_levels(grid, geometry, kMostTexture).low, 1);
}

TEST(WorkingRange, Ranges_FollowTheConfiguration) {
  WorkingRanges ranges;
  PipelineConfig config;
  const FrameGeometry geometry{1280, 720, 1.0, 7};
  ranges.update(config, geometry, kMostTexture);
  const WorkingRange nested = ranges.patches();
  set_lattice_kind(config, LatticeKind::kUniform);
  ranges.update(config, geometry, kMostTexture);
  EXPECT_EQ(ranges.patches().low, 1);
  set_lattice_kind(config, LatticeKind::kNested);
  ranges.update(config, geometry, kMostTexture);
  EXPECT_EQ(ranges.patches(), nested);
}

TEST(Words, Faults_NameThePanelsRows) {
  EXPECT_EQ(in_panel_words(UsageError(OfOption("fov-deg", "200"), "the range is above 0, up to 180").fault()),
            "view angle 200: the range is above 0, up to 180");
  EXPECT_EQ(in_panel_words(UsageError(OfOption("m0", "-1"), "must be above 0", Hint::kFewerPatches).fault()),
            "M0 -1: must be above 0; use a smaller e0 or a larger patch-size");
  EXPECT_EQ(in_panel_words(UsageError(OfOption("e0", "-1"), "must be above 0").fault()), "e0 -1: must be above 0");
  for (const char* file : {"m0: is empty", "min-samples 2.csv: line 3: is no number", "/gaze/fov-deg: no such file"}) {
    EXPECT_EQ(in_panel_words(InputError(file).fault()), file);
  }
  for (const EnumName<View>& view : kViews) EXPECT_STRNE(in_words(view.value), "") << view.text;
}

}  // namespace
}  // namespace saccade::ui
