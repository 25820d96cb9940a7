// What was seen of the picture, and how fine: against the definition, counted texel by texel.
#include "pipeline/gaze/novelty/remembered_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "scene.h"

namespace saccade {
namespace {

FrameGeometry geometry_of(const Scene& scene, int levels = kDefaultLevels) {
  return {scene.width_px(), scene.height_px(), 1.0, levels};
}

// Squares of `span` pixels over the frame, each a patch.
PatchPlan tiled(const Scene& scene, int span, float lod) {
  PatchPlan plan;
  plan.patch_size = static_cast<int>(static_cast<float>(span) / std::exp2(lod));
  for (int y = 0; y < scene.height_px(); y += span) {
    for (int x = 0; x < scene.width_px(); x += span) {
      plan.patches.push_back({.x_px = static_cast<float>(x) + static_cast<float>(span) / 2,
                              .y_px = static_cast<float>(y) + static_cast<float>(span) / 2,
                              .lod = lod,
                              .coverage = 1});
    }
  }
  return plan;
}

// Stripes two pixels wide, black and white: at level 1 each texel differs from its neighbour by 255.
void draw_stripes(Scene& scene, int x0, int y0, int side) {
  const auto width = static_cast<std::size_t>(scene.width_px());
  for (int y = y0; y < y0 + side; ++y) {
    for (int x = x0; x < x0 + side; ++x) {
      scene.plane(0)[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] = x / 2 % 2 == 0 ? 0 : 255;
    }
  }
}

int nonzero(std::span<const float> tiles) {
  int count = 0;
  for (const float value : tiles) count += value > 0;
  return count;
}

TEST(RememberedPicture, Detail_IsUnreadUntilItIsSeenFinely) {
  Scene scene(128, 96, TextureFormat::kYuv8);
  scene.fill(128);
  draw_stripes(scene, 32, 32, 16);  // tile (2, 2)
  scene.upload_all();
  RememberedPicture picture(scene.damage().grid(), geometry_of(scene));
  picture.note(&scene.damage());
  picture.read(scene.pyramid());
  // Steps of 255 between the columns, 127 at the last one; less 8, which may be noise.
  EXPECT_FLOAT_EQ(picture.unread()[2 * 8 + 2], (7 * 247 + 119) / 8.0f);
  EXPECT_FLOAT_EQ(picture.unread()[2 * 8 + 1], 120 / 8.0f) << "its last column, beside the stripes";
  EXPECT_FLOAT_EQ(picture.unread()[1 * 8 + 2], (120 + 119) / 2.0f / 8) << "its last row, above them";
  EXPECT_EQ(nonzero(picture.unread()), 3);
}

TEST(RememberedPicture, CoarsePatches_LeaveItUnreadAndFineOnesDoNot) {
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
    for (const int levels : {1, 7}) {
      Scene scene(128, 96, format, levels);
      std::mt19937 random(4);
      scene.randomise(random);
      scene.upload_all();
      RememberedPicture picture(scene.damage().grid(), geometry_of(scene, levels));
      picture.read(scene.pyramid());
      EXPECT_EQ(nonzero(picture.unread()), scene.damage().grid().count());
      EXPECT_EQ(nonzero(picture.appeared()), 0) << "at first nothing has appeared";
      picture.see(tiled(scene, 128, 3));
      picture.read(scene.pyramid());
      EXPECT_EQ(nonzero(picture.unread()), scene.damage().grid().count());
      picture.see(tiled(scene, 16, 0));
      picture.read(scene.pyramid());
      EXPECT_EQ(nonzero(picture.unread()), 0);
      picture.see(tiled(scene, 128, 3));  // a mean that is right takes nothing away
      picture.read(scene.pyramid());
      EXPECT_EQ(nonzero(picture.unread()), 0);
      picture.forget();
      picture.read(scene.pyramid());
      EXPECT_EQ(nonzero(picture.unread()), scene.damage().grid().count());
    }
  }
}

TEST(RememberedPicture, Change_IsUnreadAndHasAppearedThereAlone) {
  Scene scene(128, 96, TextureFormat::kYuv8);
  scene.fill(128);
  scene.upload_all();
  RememberedPicture picture(scene.damage().grid(), geometry_of(scene));
  picture.read(scene.pyramid());
  picture.see(tiled(scene, 16, 0));
  picture.read(scene.pyramid());
  EXPECT_EQ(nonzero(picture.unread()), 0);
  scene.damage().clear();
  draw_stripes(scene, 48, 16, 16);  // tile (3, 1)
  scene.damage().set(1 * 8 + 3);
  scene.upload();
  picture.note(&scene.damage());
  picture.read(scene.pyramid());
  EXPECT_EQ(nonzero(picture.unread()), 1);
  EXPECT_GT(picture.unread()[1 * 8 + 3], 200.0f);
  EXPECT_EQ(picture.appeared()[1 * 8 + 3], picture.unread()[1 * 8 + 3]);
  picture.read(scene.pyramid());
  EXPECT_EQ(nonzero(picture.appeared()), 0) << "it was there at the read before";
  EXPECT_EQ(nonzero(picture.unread()), 1) << "and is unread";
}

TEST(RememberedPicture, DetailThatGoes_HasVanished) {
  Scene scene(128, 96, TextureFormat::kYuv8);
  scene.fill(0);
  scene.upload_all();
  RememberedPicture picture(scene.damage().grid(), geometry_of(scene));
  const auto next = [&](const auto& draw) {
    scene.damage().clear();
    draw();
    scene.damage().set(1 * 8 + 3);
    scene.upload();
    picture.note(&scene.damage());
    picture.read(scene.pyramid());
  };
  const std::size_t tile = 1 * 8 + 3;
  picture.read(scene.pyramid());
  next([&] { draw_stripes(scene, 48, 16, 16); });
  EXPECT_GT(picture.appeared()[tile], 100.0f);
  EXPECT_EQ(picture.vanished()[tile], 0.0f) << "nothing was there";
  // One edge in place of many.
  next([&] {
    for (int y = 16; y < 32; ++y) {
      for (int x = 48; x < 64; ++x) scene.plane(0)[static_cast<std::size_t>(y * 128 + x)] = x < 56 ? 0 : 255;
    }
  });
  EXPECT_EQ(picture.appeared()[tile], 0.0f) << "its step was there before";
  EXPECT_GT(picture.vanished()[tile], 100.0f);
  next([&] { draw_stripes(scene, 48, 16, 16); });
  EXPECT_GT(picture.appeared()[tile], 100.0f);
  EXPECT_EQ(picture.vanished()[tile], 0.0f) << "the step is there still";
  picture.read(scene.pyramid());
  EXPECT_EQ(picture.vanished()[tile], 0.0f) << "it was there at the read before";
}

}  // namespace
}  // namespace saccade
