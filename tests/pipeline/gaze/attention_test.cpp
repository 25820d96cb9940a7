// Fixations that come from outside: a pushed map, a source that is asked, a scanpath in memory.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/gaze/scanpath/scanpath.h"

namespace saccade {
namespace {

constexpr std::int64_t kFrameNs = 40'000'000;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::unique_ptr<Scanpath> centre_path(FrameGeometry geometry = {640, 480, 1.0, 7}) {
  ScanpathConfig config;
  config.policy = FixationPolicy::kCenter;
  return make_scanpath(config, geometry);
}

AttentionMap map_of(int rows, int cols, float value = 0) {
  AttentionMap map{rows, cols, {}};
  map.weights.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), value);
  return map;
}

float& at(AttentionMap& map, int row, int col) {
  return map
      .weights[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.cols) + static_cast<std::size_t>(col)];
}

// The places of the fixations that land within `frames` frames of 25 a second, from frame `begin` on.
std::vector<GazePoint> landings(Scanpath& path, int frames, int begin = 0) {
  std::vector<GazePoint> places;
  for (int n = begin; n < begin + frames; ++n) {
    const Gaze gaze = path.step(n * kFrameNs, {});
    if (gaze.landed) places.push_back({gaze.u, gaze.v});
  }
  return places;
}

GazePoint first_landing(const AttentionMap& map) {
  const auto path = centre_path();
  path->attend(&map);
  return landings(*path, 1).at(0);
}

TEST(Attention, Peak_IsLookedAt) {
  AttentionMap map = map_of(6, 8, 0.125f);
  at(map, 4, 1) = 0.5f;
  EXPECT_EQ(first_landing(map).u, 1.5f / 8);
  EXPECT_EQ(first_landing(map).v, 4.5f / 6);
  map.left_u = 0.5;  // of the right half's lower part: u = 0.5 + 1.5 / 8 / 2
  map.top_v = 0.25;
  EXPECT_EQ(first_landing(map).u, 0.59375f);
  EXPECT_EQ(first_landing(map).v, 0.8125f);
}

TEST(Attention, LargeMap_KeepsThePeaksVeryPlace) {
  AttentionMap map = map_of(1080, 1920, -3.0f);
  at(map, 700, 1234) = -2.0f;  // logits: differences count
  EXPECT_FLOAT_EQ(first_landing(map).u, 1234.5f / 1920);
  EXPECT_FLOAT_EQ(first_landing(map).v, 700.5f / 1080);
}

TEST(Attention, MaskedWeights_AreNeverLookedAt) {
  AttentionMap map = map_of(2, 3, -kInf);
  at(map, 1, 2) = -7;
  at(map, 0, 0) = kNan;
  const auto path = centre_path();
  path->attend(&map);
  for (const GazePoint& place : landings(*path, 60)) {
    EXPECT_FLOAT_EQ(place.u, 2.5f / 3);
    EXPECT_FLOAT_EQ(place.v, 0.75f);
  }
}

TEST(Attention, BoxBeyondTheFrame_LooksInsideIt) {
  AttentionMap map = map_of(1, 4);
  map.left_u = -0.5;
  map.right_u = 1.5;
  at(map, 0, 0) = 9;  // its centre is u = -0.25
  at(map, 0, 2) = 1;  // u = 0.75
  EXPECT_FLOAT_EQ(first_landing(map).u, 0.75f);
}

TEST(Attention, SeenPlaces_InhibitAReturn) {
  AttentionMap map = map_of(3, 3, 0);
  at(map, 0, 0) = 1.0f;
  at(map, 2, 2) = 0.9f;
  at(map, 0, 2) = 0.8f;
  const auto path = centre_path();
  path->attend(&map);
  const auto places = landings(*path, 18);  // 0.7 s: three fixations
  ASSERT_EQ(places.size(), 3U);
  EXPECT_FLOAT_EQ(places[0].u, 0.5f / 3);
  EXPECT_FLOAT_EQ(places[1].v, 2.5f / 3);
  EXPECT_FLOAT_EQ(places[2].u, 2.5f / 3);
  EXPECT_FLOAT_EQ(places[2].v, 0.5f / 3);
}

TEST(Attention, NoMap_GivesThePolicyBack) {
  AttentionMap map = map_of(1, 2);
  at(map, 0, 1) = 1;
  const auto path = centre_path();
  path->attend(&map);
  EXPECT_FALSE(path->needs_scene());
  EXPECT_EQ(landings(*path, 7, 0).back().u, 0.75f);
  path->attend(nullptr);
  EXPECT_EQ(landings(*path, 7, 7).back().u, 0.5f);
  ScanpathConfig saliency;
  const auto seeing = make_scanpath(saliency, {64, 64, 1.0, 7});
  EXPECT_TRUE(seeing->needs_scene());
  seeing->attend(&map);
  EXPECT_FALSE(seeing->needs_scene());
}

TEST(Attention, WhatIsNoMap_IsRefused) {
  EXPECT_NO_THROW(check_attention(map_of(2, 2)));
  AttentionMap short_of_one = map_of(2, 2);
  short_of_one.weights.pop_back();
  EXPECT_THROW(check_attention(short_of_one), UsageError);
  EXPECT_THROW(check_attention(map_of(0, 4)), UsageError);
  EXPECT_THROW(check_attention(map_of(2, 2, kNan)), UsageError);
  EXPECT_THROW(check_attention(map_of(2, 2, kInf)), UsageError);
  AttentionMap beside = map_of(2, 2);
  beside.left_u = 1.5;
  beside.right_u = 2;
  EXPECT_THROW(check_attention(beside), UsageError);
  beside.left_u = 3;
  EXPECT_THROW(check_attention(beside), UsageError) << "right of its right edge";
}

TEST(FixationSource, WhenAFixationIsDue_IsAsked) {
  const auto path = centre_path();
  std::vector<FixationRequest> requests;
  std::vector<std::int64_t> times;
  path->set_source([&](const FixationRequest& request, const SceneView& scene) -> std::optional<GazePoint> {
    requests.push_back(request);
    times.push_back(scene.pts_ns);
    if (request.index == 1) return std::nullopt;
    return GazePoint{0.25f, 0.125f};
  });
  std::vector<GazePoint> places;
  for (int n = 0; n < 20; ++n) {  // 0.8 s: fixations 0 .. 3
    SceneView scene;
    scene.pts_ns = n * kFrameNs;
    const Gaze gaze = path->step(n * kFrameNs, scene);
    if (gaze.landed) places.push_back({gaze.u, gaze.v});
  }
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_TRUE(requests[0].first);
  EXPECT_EQ(requests[2].index, 2);
  EXPECT_EQ(requests[2].elapsed_ns, 500'000'000);
  EXPECT_EQ(times[1], 7 * kFrameNs) << "the frame that reveals it";
  ASSERT_GE(places.size(), 3U);
  EXPECT_EQ(places[0].v, 0.125f);
  EXPECT_EQ(places[1].u, 0.5f) << "left to the policy";
  EXPECT_EQ(places[2].u, 0.25f);
}

TEST(FixationSource, ThatThrows_IsAskedAgain) {
  const auto path = centre_path();
  int asked = 0;
  path->set_source([&](const FixationRequest&, const SceneView&) -> std::optional<GazePoint> {
    if (++asked <= 2) throw std::runtime_error("not ready");
    return GazePoint{1, 1};
  });
  EXPECT_THROW(path->step(0, {}), std::runtime_error);
  EXPECT_THROW(path->step(kFrameNs, {}), std::runtime_error);
  EXPECT_EQ(path->step(2 * kFrameNs, {}).u, 1.0f);
  path->set_source([](const FixationRequest&, const SceneView&) { return std::optional(GazePoint{kNan, 0.5f}); });
  EXPECT_THROW(landings(*path, 10, 3), UsageError);
  path->set_source({});
  EXPECT_EQ(landings(*path, 10, 13).back().u, 0.5f);
}

TEST(RecordedRows, InMemory_AreFollowed) {
  ScanpathConfig config;
  config.policy = FixationPolicy::kFile;
  const double rows[] = {0, 0.25, 0.5, 0.2, 0.75, 1.0};
  config.recorded = std::make_shared<RecordedScanpath>(recorded_scanpath(rows));
  const auto path = make_scanpath(config, {640, 480, 1.0, 7});
  const auto places = landings(*path, 12);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].u, 0.25f);
  EXPECT_EQ(places[1].v, 1.0f);
  const double falling[] = {0, 0.5, 0.5, 0, 0.5, 0.5};
  EXPECT_THROW(recorded_scanpath(falling), UsageError);
  const double outside[] = {0, 1.5, 0.5};
  EXPECT_THROW(recorded_scanpath(outside), UsageError);
  EXPECT_THROW(recorded_scanpath({}), UsageError);
}

}  // namespace
}  // namespace saccade
