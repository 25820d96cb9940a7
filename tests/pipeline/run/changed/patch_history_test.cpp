#include "pipeline/run/changed/patch_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "pipeline/gaze/lattice/lattice.h"
#include "tests/pipeline/gaze/scene.h"

namespace saccade {
namespace {

using PlaceKey = std::tuple<float, float, float>;

LatticeConfig lattice_of(LatticeKind kind) {
  LatticeConfig config;
  config.patch_size = 8;
  config.shape = PatchBudget{.patches = 300, .m0 = {}};
  if (kind == LatticeKind::kGrid) config.shape = GridShape{.patches = 60, .acuity = {}};
  if (kind == LatticeKind::kUniform) config.shape = UniformShape{.patches = 60, .lod = {}, .acuity = {}};
  return config;
}

// Random damage, random fixations from a few: a patch called unchanged has the bytes it had when last emitted there.
void expect_unchanged_means_same_bytes(TextureFormat format, LatticeKind kind, int width, int height, int levels,
                                       unsigned seed) {
  SCOPED_TRACE(::testing::Message() << name(format) << " lattice " << name(kind) << " " << width << "x" << height
                                    << " levels " << levels << " seed " << seed);
  std::mt19937 random(seed);
  Scene scene(width, height, format, levels);
  scene.randomise(random);
  const auto lattice = make_lattice(lattice_of(kind), {width, height, 1.0, levels});
  PatchHistory history(scene.pyramid().layout(), lattice->patch_count());
  PatchBatch batch(lattice->patch_count(), 8, {});
  PatchPlan plan;
  std::vector<std::uint8_t> changed;
  std::map<PlaceKey, std::vector<std::byte>> emitted;
  ColorSpec color = scene.view().color;
  color.site_shift_y = seed % 2 == 0 ? 0.25f : 0.0f;
  std::size_t unchanged = 0;
  scene.damage().set_all();
  for (int frame = 0; frame < 40; ++frame) {
    scene.upload();
    history.note_damage(scene.damage());
    if (random() % 3 != 0) {
      lattice->plan(static_cast<float>(random() % 3) / 2, static_cast<float>(random() % 3) / 2, plan);
      scene.pyramid().sample(plan, color, batch);
      history.mark(plan, color, changed);
      for (std::size_t n = 0; n < plan.count(); ++n) {
        const Patch& patch = plan.patches[n];
        const auto bytes = batch.patch(n);
        auto& known = emitted[{patch.x_px, patch.y_px, patch.lod}];
        if (changed[n] == 0) {
          ++unchanged;
          ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), known.begin(), known.end()))
              << "frame " << frame << ", patch " << n << " at " << patch.x_px << "," << patch.y_px << " lod "
              << patch.lod;
        }
        known.assign(bytes.begin(), bytes.end());
      }
    }
    scene.damage().clear();
    const auto tiles = random() % 3;
    for (std::size_t i = 0; i < tiles; ++i) {
      scene.damage_tile(static_cast<int>(random() % static_cast<unsigned>(scene.damage().grid().count())), random);
    }
  }
  if (width * height > 64 * 64) {
    EXPECT_GT(unchanged, 0U);
  }
}

TEST(PatchHistory, Unchanged_MeansTheSameBytes) {
  unsigned seed = 0;
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
    for (const LatticeKind kind : {LatticeKind::kNested, LatticeKind::kGrid, LatticeKind::kUniform}) {
      for (const auto& [width, height] : {std::pair{161, 121}, {257, 64}, {320, 200}, {33, 17}, {1, 1}}) {
        expect_unchanged_means_same_bytes(format, kind, width, height, 7, ++seed);
        if (::testing::Test::HasFatalFailure()) return;
      }
      ++seed;
      expect_unchanged_means_same_bytes(format, kind, 161, 121, 1 + static_cast<int>(seed % 9), seed);
    }
  }
}

struct Marked {
  Scene scene{1920, 1080, TextureFormat::kYuv8};
  std::unique_ptr<Lattice> lattice = make_lattice({}, {1920, 1080, 1.0, 7});
  PatchHistory history{scene.pyramid().layout(), lattice->patch_count()};
  PatchPlan plan;
  ColorSpec color = scene.view().color;
  std::vector<std::uint8_t> changed;

  std::size_t mark(float u = 0.5f, float v = 0.5f) {
    lattice->plan(u, v, plan);
    history.mark(plan, color, changed);
    return static_cast<std::size_t>(std::count(changed.begin(), changed.end(), 1));
  }
  void damage(int tile) {
    scene.damage().clear();
    scene.damage().set(tile);
    history.note_damage(scene.damage());
  }
};

TEST(PatchHistory, StillPicture_ChangesOnlyAtFirst) {
  Marked m;
  EXPECT_EQ(m.mark(), m.lattice->patch_count());
  EXPECT_EQ(m.mark(), 0U);
  m.history.note_damage(m.scene.damage());  // a frame without damage
  EXPECT_EQ(m.mark(), 0U);
  m.history.forget();
  EXPECT_EQ(m.mark(), m.lattice->patch_count());
}

// One tile lies under one patch; samples of neighbours read it through chroma, whose texels straddle patches.
TEST(PatchHistory, OneTile_ChangesOnlyThePatchesThatReadIt) {
  Marked m;
  m.mark();
  m.damage(33 * 120 + 60);  // tile (60, 33): 960..975, 528..543, the middle
  const std::size_t touched = m.mark();
  EXPECT_GE(touched, 1U);
  EXPECT_LE(touched, 9U);
  for (std::size_t n = 0; n < m.plan.count(); ++n) {
    const Patch& patch = m.plan.patches[n];
    const double half = 8 * std::exp2(static_cast<double>(patch.lod));
    const bool over = std::abs(static_cast<double>(patch.x_px) - 968) < half + 8 &&
                      std::abs(static_cast<double>(patch.y_px) - 536) < half + 8;
    if (over) {
      EXPECT_EQ(m.changed[n], 1) << n;
    }
  }
  EXPECT_EQ(m.mark(), 0U);
}

TEST(PatchHistory, DamageBetweenVisits_IsRemembered) {
  Marked m;
  m.mark(0.2f, 0.2f);
  m.mark(0.8f, 0.8f);
  m.damage(10 * 120 + 10);
  m.mark(0.8f, 0.8f);
  for (int i = 0; i < 5; ++i) {
    m.scene.damage().clear();
    m.history.note_damage(m.scene.damage());
  }
  EXPECT_GE(m.mark(0.2f, 0.2f), 1U);
  EXPECT_EQ(m.mark(0.2f, 0.2f), 0U);
}

TEST(PatchHistory, ChangeOfColour_ChangesEverything) {
  Marked m;
  m.mark();
  m.color.matrix = ColorMatrix::kBt2020;
  EXPECT_EQ(m.mark(), m.lattice->patch_count());
  EXPECT_EQ(m.mark(), 0U);
}

// The footprint against every texel that linear filtering reads, found sample by sample.
TEST(PatchHistory, Footprint_HoldsEveryTexelThatIsRead) {
  std::mt19937 random(77);
  const PyramidLayout layout = make_pyramid_layout(333, 222, TextureFormat::kYuv8, 7);
  for (int trial = 0; trial < 300; ++trial) {
    Patch patch;
    patch.x_px = std::uniform_real_distribution<float>(-50, 380)(random);
    patch.y_px = std::uniform_real_distribution<float>(-50, 270)(random);
    patch.lod = std::uniform_real_distribution<float>(0, 6)(random);
    if (trial % 3 == 0) patch.lod = std::floor(patch.lod);
    const TileFootprint tiles = patch_footprint(patch, 16, {}, layout);
    for (int chroma = 0; chroma < 2; ++chroma) {
      const double lod =
          chroma == 0 ? static_cast<double>(patch.lod) : std::max(static_cast<double>(patch.lod) - 1, 0.0);
      const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(chroma)];
      for (int level = static_cast<int>(lod); level <= std::min(static_cast<int>(std::ceil(lod)), plane.levels - 1);
           ++level) {
        for (int i = 0; i < 16; ++i) {
          const double x = static_cast<double>(patch.x_px) + (i - 7.5) * std::exp2(static_cast<double>(patch.lod));
          const double texel = (chroma == 0 ? x : x / 2 + 0.25) / std::exp2(level) - 0.5;
          for (const double neighbour : {std::floor(texel + 1e-6), std::ceil(texel - 1e-6)}) {
            const double index = std::clamp(neighbour, 0.0, static_cast<double>((plane.width >> level) - 1));
            const int first = static_cast<int>(index * std::exp2(level)) / plane.tile_size();
            const int last = static_cast<int>((index + 1) * std::exp2(level) - 1) / plane.tile_size();
            EXPECT_LE(tiles.col_begin, std::min(first, layout.tiles.cols - 1)) << trial;
            EXPECT_GT(tiles.col_end, std::min(last, layout.tiles.cols - 1)) << trial;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace saccade
