#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath.h"
#include "tests/pipeline/gaze/scene.h"
#include "tests/support/temp_dir.h"

namespace saccade {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kFrameNs = 40'000'000;

FrameGeometry geometry_of(const Scene& scene, int levels = kDefaultLevels) {
  return {scene.width_px(), scene.height_px(), 1.0, levels};
}

ScanpathConfig policy(FixationPolicy kind, const std::string& argument = "", std::uint64_t seed = 0) {
  ScanpathConfig config;
  config.policy = kind;
  config.argument = argument;
  config.seed = seed;
  return config;
}

// The points where a path lands over `frames` frames of 25 fps on a scene that does not change.
std::vector<std::pair<float, float>> landings(Scanpath& path, const SceneView& scene, int frames) {
  std::vector<std::pair<float, float>> points;
  for (int n = 0; n < frames; ++n) {
    const Gaze gaze = path.step(n * kFrameNs, scene);
    if (gaze.landed) points.emplace_back(gaze.u, gaze.v);
  }
  return points;
}

// The path that a file with `text` describes.
std::unique_ptr<Scanpath> path_from_file(const std::string& text, const FrameGeometry& geometry = {64, 64, 1.0, 7}) {
  const test::TempDir folder;
  const std::string file = folder.file("scanpath.csv");
  std::ofstream(file) << text;
  return make_scanpath(policy(FixationPolicy::kFile, file), geometry);
}

std::string input_error(const std::string& text) {
  try {
    path_from_file(text);
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no error";
}

TEST(CenterPolicy, GivenPlace_IsKept) {
  const auto path = make_scanpath(policy(FixationPolicy::kCenter, "0.25,0.75"), {64, 64, 1.0, 7});
  for (const auto& [u, v] : landings(*path, {}, 100)) {
    EXPECT_EQ(u, 0.25f);
    EXPECT_EQ(v, 0.75f);
  }
  EXPECT_EQ(make_scanpath(policy(FixationPolicy::kCenter), {64, 64, 1.0, 7})->step(0, {}).u, 0.5f);
  for (const char* bad : {"0.5", "0.5,", "0.5,1.5", "a,b", "0.5,0.5,0.5", "nan,0.5"}) {
    EXPECT_THROW(make_scanpath(policy(FixationPolicy::kCenter, bad), {64, 64, 1.0, 7}), UsageError) << bad;
  }
}

TEST(RasterPolicy, Always_WalksRowByRow) {
  const auto path = make_scanpath(policy(FixationPolicy::kRaster, "3x2"), {64, 64, 1.0, 7});
  const auto points = landings(*path, {}, 60);
  ASSERT_GE(points.size(), 8U);
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_FLOAT_EQ(points[k].first, (static_cast<float>(k % 3) + 0.5f) / 3);
    EXPECT_FLOAT_EQ(points[k].second, (static_cast<float>(k / 3 % 2) + 0.5f) / 2);
  }
  for (const char* bad : {"3", "x", "0x3", "3x-1", "3x2x1", "20000x1"}) {
    EXPECT_THROW(make_scanpath(policy(FixationPolicy::kRaster, bad), {64, 64, 1.0, 7}), UsageError) << bad;
  }
}

// std::mt19937_64 is specified to the bit; the mapping takes its top 24 bits.
TEST(RandomPolicy, GivenSeed_EqualsTheSpecifiedGenerator) {
  const auto path = make_scanpath(policy(FixationPolicy::kRandom, "", 42), {64, 64, 1.0, 7});
  std::mt19937_64 bits(42);
  for (const auto& [u, v] : landings(*path, {}, 200)) {
    EXPECT_EQ(u, static_cast<float>(bits() >> 40) / 16777216.0f);
    EXPECT_EQ(v, static_cast<float>(bits() >> 40) / 16777216.0f);
  }
}

TEST(RandomPolicy, Seed_DecidesEvenAfterAReset) {
  const auto path = make_scanpath(policy(FixationPolicy::kRandom, "", 1), {64, 64, 1.0, 7});
  const auto first = landings(*path, {}, 100);
  path->reset();
  EXPECT_EQ(landings(*path, {}, 100), first);
  EXPECT_NE(landings(*make_scanpath(policy(FixationPolicy::kRandom, "", 2), {64, 64, 1.0, 7}), {}, 100), first);
}

TEST(FilePolicy, Rows_AreReplayedFromTheirTimes) {
  const auto path =
      path_from_file("# recorded\nt_s,u,v\n0,0.1,0.2\n\n0.5, 0.5, 0.5\r\n1.5,0.9,0.8\n", {1920, 1080, 1.0, 7});
  constexpr std::int64_t kStart = 7'000'000'000;
  EXPECT_FLOAT_EQ(path->step(kStart, {}).u, 0.1f);
  EXPECT_FLOAT_EQ(path->step(kStart + 499'999'999, {}).u, 0.1f);
  EXPECT_TRUE(path->step(kStart + 500'000'000, {}).in_flight);
  const Gaze second = path->step(kStart + 600'000'000, {});
  EXPECT_TRUE(second.landed);
  EXPECT_EQ(second.fixation, 1);
  EXPECT_FLOAT_EQ(second.v, 0.5f);
  path->step(kStart + 1'500'000'000, {});
  EXPECT_FLOAT_EQ(path->step(kStart + 9'000'000'000, {}).u, 0.9f);
}

TEST(FilePolicy, TabsAndALateFirstRow_AreRead) {
  const auto path = path_from_file("2\t0.25\t0.75\n3\t1\t0\n");
  const Gaze gaze = path->step(0, {});
  EXPECT_TRUE(gaze.landed);
  EXPECT_FLOAT_EQ(gaze.u, 0.25f);
  EXPECT_FLOAT_EQ(path->step(2'500'000'000, {}).v, 0.75f);
}

TEST(FilePolicy, BadFile_NamesLineAndReason) {
  EXPECT_THAT(input_error("0,0.1,0.2\n1,0.1\n"), AllOf(HasSubstr("line 2"), HasSubstr("2 fields")));
  EXPECT_THAT(input_error("t_s,u,v\n0,0.1,0.2\n# x\n1,zero,0.5\n"), AllOf(HasSubstr("line 4"), HasSubstr("\"zero\"")));
  EXPECT_THAT(input_error("0,0.1,1.2\n"), AllOf(HasSubstr("line 1"), HasSubstr("v 1.2")));
  EXPECT_THAT(input_error("0,-0.1,0.2\n"), HasSubstr("u -0.1"));
  EXPECT_THAT(input_error("1,0.1,0.2\n1,0.3,0.3\n"), AllOf(HasSubstr("line 2"), HasSubstr("does not rise")));
  EXPECT_THAT(input_error("nan,0.1,0.2\n"), HasSubstr("out of range"));
  EXPECT_THAT(input_error("0,nan,0.2\n"), HasSubstr("outside 0 to 1"));
  EXPECT_THAT(input_error("t_s,u,v\n"), HasSubstr("no fixation"));
  EXPECT_THAT(input_error(""), HasSubstr("no fixation"));
  try {
    make_scanpath(policy(FixationPolicy::kFile, "/nonexistent.csv"), {64, 64, 1.0, 7});
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nonexistent.csv"), HasSubstr("No such file")));
  }
  const test::TempDir folder;
  EXPECT_THROW(make_scanpath(policy(FixationPolicy::kFile, folder.path().string()), {64, 64, 1.0, 7}), InputError);
  EXPECT_THROW(make_scanpath(policy(FixationPolicy::kFile), {64, 64, 1.0, 7}), UsageError);
}

TEST(SaliencyPolicy, BrightSquare_IsLookedAt) {
  Scene scene(640, 480, TextureFormat::kYuv8);
  scene.fill(128);
  for (int y = 64; y < 96; ++y) {  // a bright square around (496, 80)
    for (int x = 480; x < 512; ++x) scene.plane(0)[static_cast<std::size_t>(y * 640 + x)] = 255;
  }
  scene.upload_all();
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
  const Gaze gaze = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene))->step(0, view);
  EXPECT_NEAR(gaze.u * 640, 496, 24);
  EXPECT_NEAR(gaze.v * 480, 80, 24);
}

TEST(SaliencyPolicy, ColourAlone_IsLookedAt) {
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16}) {
    Scene scene(640, 480, format);
    scene.fill(128);
    const int texel = format == TextureFormat::kYuv16 ? 2 : 1;
    for (int y = 160; y < 176; ++y) {  // chroma samples around luma (112, 336)
      for (int x = 48 * texel; x < 64 * texel; ++x) scene.plane(2)[static_cast<std::size_t>(y * 320 * texel + x)] = 200;
    }
    scene.upload_all();
    const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
    const Gaze gaze = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene))->step(0, view);
    EXPECT_NEAR(gaze.u * 640, 112, 24);
    EXPECT_NEAR(gaze.v * 480, 336, 24);
  }
}

TEST(SaliencyPolicy, Motion_DrawsTheEye) {
  Scene scene(640, 480, TextureFormat::kYuv8);
  scene.fill(128);
  scene.upload_all();
  const auto path = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene));
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
  path->step(0, view);
  const int moving = 22 * 40 + 5;  // tile (5, 22): centre (88, 360)
  Gaze gaze;
  for (int n = 1; n <= 8; ++n) {
    scene.damage().clear();
    scene.damage().set(moving, 16 * 16 * 40);
    gaze = path->step(n * kFrameNs, view);
  }
  EXPECT_TRUE(gaze.landed || !gaze.in_flight);
  EXPECT_NEAR(gaze.u * 640, 88, 8);
  EXPECT_NEAR(gaze.v * 480, 360, 8);
}

TEST(SaliencyPolicy, StillPicture_IsRoamedOver) {
  for (const bool flat : {true, false}) {
    Scene scene(640, 480, TextureFormat::kYuv8);
    std::mt19937 random(3);
    flat ? scene.fill(90) : scene.randomise(random);
    scene.upload_all();
    const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
    const auto path = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene));
    const auto points = landings(*path, view, 25 * 5);
    ASSERT_GE(points.size(), 19U);
    EXPECT_GE(std::set(points.begin(), points.end()).size(), 8U) << (flat ? "flat" : "noise");
    for (std::size_t k = 1; k < points.size(); ++k) EXPECT_NE(points[k], points[k - 1]);
  }
}

std::vector<std::pair<float, float>> gazes_on_noise(std::uint64_t seed, TextureFormat format) {
  Scene scene(161, 121, format);
  std::mt19937 random(11);
  scene.randomise(random);
  scene.upload_all();
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
  const auto path = make_scanpath(policy(FixationPolicy::kSaliency, "", seed), geometry_of(scene));
  std::vector<std::pair<float, float>> gazes;
  for (int n = 0; n < 200; ++n) {
    const Gaze gaze = path->step(n * kFrameNs, view);
    gazes.emplace_back(gaze.u, gaze.v);
    scene.damage().clear();
    for (int i = 0; i < 5; ++i) {
      scene.damage_tile(static_cast<int>(random() % static_cast<unsigned>(scene.damage().grid().count())), random,
                        static_cast<std::uint32_t>(random() % 9000));
    }
    scene.upload();
  }
  return gazes;
}

TEST(SaliencyPolicy, SameInput_RepeatsToTheBit) {
  for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
    EXPECT_EQ(gazes_on_noise(5, format), gazes_on_noise(5, format));
  }
}

TEST(SaliencyPolicy, Ties_AreBrokenByTheSeed) {
  Scene scene(640, 480, TextureFormat::kYuv8);
  scene.fill(90);
  scene.upload_all();
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
  std::set<std::pair<float, float>> firsts;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Gaze gaze = make_scanpath(policy(FixationPolicy::kSaliency, "", seed), geometry_of(scene))->step(0, view);
    firsts.emplace(gaze.u, gaze.v);
    EXPECT_NEAR(gaze.u, 0.5, 0.03);
    EXPECT_NEAR(gaze.v, 0.5, 0.04);
  }
  EXPECT_GT(firsts.size(), 1U);
}

TEST(SaliencyPolicy, AnySizeFormatLevels_StaysInTheFrame) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 2}, {15, 17}, {16, 16}, {161, 121}, {640, 16}}) {
    for (const TextureFormat format : {TextureFormat::kYuv8, TextureFormat::kYuv16, TextureFormat::kRgba8}) {
      for (const int levels : {1, 2, 4, 5, 7, 10}) {
        Scene scene(width, height, format, levels);
        std::mt19937 random(static_cast<unsigned>(width * levels));
        scene.randomise(random);
        scene.upload_all();
        const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene, levels)};
        const auto path = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene, levels));
        for (const auto& [u, v] : landings(*path, view, 40)) {
          EXPECT_TRUE(u >= 0 && u <= 1 && v >= 0 && v <= 1) << width << "x" << height << " " << u << "," << v;
        }
      }
    }
  }
}

TEST(SaliencyPolicy, GapsOfYears_AreSurvived) {
  Scene scene(640, 480, TextureFormat::kYuv8);
  std::mt19937 random(2);
  scene.randomise(random);
  scene.upload_all();
  const SceneView view{&scene.damage(), &scene.pyramid(), geometry_of(scene)};
  const auto path = make_scanpath(policy(FixationPolicy::kSaliency), geometry_of(scene));
  for (std::int64_t n = 0; n < 20; ++n) {
    scene.damage().clear();
    scene.damage().set(static_cast<int>(n), 5000);
    const Gaze gaze = path->step(n * 100'000'000'000'000'000 / 20, view);
    EXPECT_TRUE(gaze.u >= 0 && gaze.u <= 1);
  }
}

}  // namespace
}  // namespace saccade
