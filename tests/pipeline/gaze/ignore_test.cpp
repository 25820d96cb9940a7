// Regions that saliency never looks at.
#include "pipeline/gaze/ignore.h"

#include <gtest/gtest.h>

#include <random>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath.h"
#include "tests/pipeline/gaze/scene.h"

namespace saccade {
namespace {

constexpr TileGrid kGrid{20, 12};
constexpr FrameGeometry kFrame{320, 180, 1.0, 7};

std::vector<std::uint8_t> tiles(const std::string& text) { return ignored_tiles(parse_ignore(text), kGrid, kFrame); }

TEST(Ignore, PixelsAndFractions_AreTheSameRegion) {
  EXPECT_EQ(tiles("0,0,160,90"), tiles("0,0,0.5,0.5"));
  EXPECT_EQ(tiles("16,16,16,16;304,0,16,16"), tiles("16,16,16,16\n304, 0, 500, 16"));
  const auto marks = tiles("17,17,1,1");
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), 1);
  EXPECT_EQ(marks[21], 1) << "a tile that is touched";
  EXPECT_TRUE(ignored_tiles({}, kGrid, kFrame).empty());
}

TEST(Ignore, WhatIsNoRegion_IsRefused) {
  for (const char* bad : {"1,2,3", "1,2,3,4,5", "0,0,0,5", "-1,0,5,5", "1,,2,3", ""}) {
    EXPECT_THROW(parse_ignore(bad), UsageError) << bad;
  }
  EXPECT_THROW(tiles("320,0,10,10"), UsageError) << "outside";
  EXPECT_THROW(tiles("0,0,1,1"), UsageError) << "nothing is left";
  EXPECT_EQ(print_ignore(parse_ignore("1,2,3,4;0.5,0,0.25,1;logo.png")), "1,2,3,4;0.5,0,0.25,1;logo.png");
  EXPECT_THROW(tiles("mask.png"), UsageError) << "not read";
}

TEST(Ignore, AllTilesTouched_CentresDecide) {
  const auto marks = tiles("1,1,318,170");  // into the last row, whose centre is 178
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 0), 20);
}

TEST(Ignore, Mask_IsStretchedOverTheFrame) {
  auto mask = std::make_shared<IgnoreMask>();
  mask->width = 2;
  mask->height = 1;
  mask->ignored = {0, 1};
  IgnoreRegions regions;
  regions.masks.push_back(mask);
  EXPECT_EQ(ignored_tiles(regions, kGrid, kFrame), tiles("0.5,0,0.5,1"));
}

// A clock that changes all the time, and a still bright square.
TEST(SaliencyPolicy, IgnoredRegion_IsNeverFixated) {
  for (const char* text : {"0,0,96,32", "0,0,0.3,0.178"}) {
    Scene scene(320, 180, TextureFormat::kYuv8);
    scene.fill(100);
    for (int y = 120; y < 136; ++y) {
      for (int x = 200; x < 216; ++x) scene.plane(0)[static_cast<std::size_t>(y * 320 + x)] = 220;
    }
    scene.upload_all();
    std::mt19937 random(3);
    ScanpathConfig config;
    const FrameGeometry geometry{320, 180, 1.0, kDefaultLevels};
    const auto looks_at_clock = [&](const std::string& ignore) {
      config.ignore = ignore.empty() ? IgnoreRegions{} : parse_ignore(ignore);
      const auto path = make_scanpath(config, geometry);
      int hits = 0;
      for (int n = 0; n < 200; ++n) {
        scene.damage().clear();
        for (int tile = 0; tile < 6; ++tile) scene.damage_tile(tile, random, 20000);
        scene.upload();
        const Gaze gaze = path->step(n * 40'000'000LL, {&scene.damage(), &scene.pyramid(), geometry});
        hits += gaze.landed && gaze.u < 0.3f && gaze.v < 0.178f ? 1 : 0;
      }
      return hits;
    };
    EXPECT_GT(looks_at_clock(""), 5) << "else it proves nothing";
    EXPECT_EQ(looks_at_clock(text), 0);
  }
}

// What is ignored counts neither as motion nor as surround: the rest is looked at as if the region were grey.
TEST(SaliencyPolicy, IgnoredRegion_DrawsNobodyNearIt) {
  std::mt19937 random(5);
  std::vector<std::pair<float, float>> places[2];
  for (const bool busy : {false, true}) {
    Scene scene(320, 180, TextureFormat::kYuv8);
    scene.fill(100);
    for (int i = 0; i < 64; ++i) scene.plane(0)[static_cast<std::size_t>(150 * 320 + 200 + i)] = 180;
    scene.upload_all();
    ScanpathConfig config;
    config.ignore = parse_ignore("0,0,96,32");
    const FrameGeometry geometry{320, 180, 1.0, kDefaultLevels};
    const auto path = make_scanpath(config, geometry);
    for (int n = 0; n < 100; ++n) {
      scene.damage().clear();
      for (int tile = 0; busy && tile < 6; ++tile) scene.damage_tile(tile, random, 20000);
      scene.upload();
      const Gaze gaze = path->step(n * 40'000'000LL, {&scene.damage(), &scene.pyramid(), geometry});
      if (gaze.landed) places[busy ? 1 : 0].emplace_back(gaze.u, gaze.v);
    }
  }
  EXPECT_EQ(places[0], places[1]);
}

}  // namespace
}  // namespace saccade
