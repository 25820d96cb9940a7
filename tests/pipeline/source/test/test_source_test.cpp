// test:// sources: the damage they promise is the damage they show.
#include <gtest/gtest.h>

#include <cstring>

#include "pipeline/error.h"
#include "pipeline/source/test/test_source.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

// Tiles whose samples differ between two I420 pictures, by comparing every sample.
std::vector<bool> differing_tiles(const FrameView& a, const FrameView& b) {
  const int cols = (a.width_px + 15) / 16, rows = (a.height_px + 15) / 16;
  std::vector<bool> tiles(static_cast<std::size_t>(cols * rows));
  for (std::size_t p = 0; p < 3; ++p) {
    const int width = p == 0 ? a.width_px : (a.width_px + 1) / 2;
    const int height = p == 0 ? a.height_px : (a.height_px + 1) / 2;
    const int tile = p == 0 ? 16 : 8;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        if (a.planes[p].data[y * a.planes[p].pitch_bytes + x] != b.planes[p].data[y * b.planes[p].pitch_bytes + x]) {
          tiles[static_cast<std::size_t>(y / tile * cols + x / tile)] = true;
        }
      }
    }
  }
  return tiles;
}

class TestDamage : public testing::TestWithParam<std::string> {};

TEST_P(TestDamage, AnyPattern_IsAsPromised) {
  const TestSpec spec = parse_test_uri(GetParam());
  const Recording got = record(GetParam());
  ASSERT_EQ(got.shots.size(), static_cast<std::size_t>(spec.frames));
  EXPECT_EQ(expected_damage(spec, 0).count(), expected_damage(spec, 0).grid().count());
  for (std::size_t i = 1; i < got.shots.size(); ++i) {
    const std::vector<bool> shown = differing_tiles(got.shots[i - 1].view, got.shots[i].view);
    const Damage promised = expected_damage(spec, static_cast<std::int64_t>(i));
    ASSERT_EQ(promised.grid().count(), static_cast<int>(shown.size()));
    for (std::size_t t = 0; t < shown.size(); ++t) {
      ASSERT_EQ(promised.test(static_cast<int>(t)), shown[t]) << "frame " << i << " tile " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, TestDamage,
                         testing::Values("test://static?size=161x121&frames=5", "test://box?size=320x240&frames=80",
                                         "test://box?size=161x121&frames=60", "test://box?size=3x5&frames=4",
                                         "test://noise?size=100x37&frames=8", "test://pan?size=160x120&frames=20",
                                         "test://pan?size=1x1&frames=6", "test://fade?size=97x33&frames=300",
                                         "test://cut?size=64x64&frames=60&seed=7"),
                         [](const auto& uri) { return test_name(uri.param.substr(std::strlen("test://"))); });

TEST(TestSource, Seed_DecidesTheBytes) {
  const auto bytes = [](const std::string& uri) { return record(uri).all_bytes(); };
  EXPECT_EQ(bytes("test://noise?size=64x48&frames=3&seed=5"), bytes("test://noise?size=64x48&frames=3&seed=5"));
  EXPECT_NE(bytes("test://noise?size=64x48&frames=3&seed=5"), bytes("test://noise?size=64x48&frames=3&seed=6"));
  EXPECT_NE(bytes("test://static?size=64x48&frames=1&seed=5"), bytes("test://static?size=64x48&frames=1&seed=6"));
}

TEST(TestSource, NoQuery_HasTheDocumentedDefaults) {
  const TestSpec spec = parse_test_uri("test://box");
  EXPECT_EQ(spec.width_px, 1280);
  EXPECT_EQ(spec.height_px, 720);
  EXPECT_EQ(spec.frames, 300);
  const Recording got = record("test://static?size=32x32&frames=3");
  EXPECT_EQ(got.times_ns(), (std::vector<std::int64_t>{0, 33333333, 66666667}));
  EXPECT_EQ(got.info.layout, PixelLayout::kI420);
}

TEST(TestSource, FractionalRate_IsExact) {
  const Recording got = record("test://static?size=16x16&frames=1001&rate=30000/1001");
  EXPECT_EQ(got.shots[1000].view.pts_ns, 33366666667);  // 1000 * 1001 / 30000 s
}

TEST(TestSource, StartDurationFramesLoops_AreApplied) {
  SourceConfig config;
  config.uri = "test://noise?size=32x32&frames=20&rate=10";
  config.start_s = 0.5;
  config.duration_s = 0.3;
  config.loops = 1;
  const Recording got = record(config);
  EXPECT_EQ(got.times_ns(),
            (std::vector<std::int64_t>{500000000, 600000000, 700000000, 800000000, 900000000, 1000000000}));
  EXPECT_EQ(got.shots[0].bytes, got.shots[3].bytes);
  config.max_frames = 4;
  EXPECT_EQ(record(config).shots.size(), 4U);
}

TEST(TestSource, BadUri_IsRefused) {
  for (const char* uri : {"test://", "test://bix", "test://box?size=0x4", "test://box?size=12", "test://box?frames=-1",
                          "test://box?rate=0", "test://box?colour=red", "test://box?size=40000x10"}) {
    EXPECT_THROW(record(uri), UsageError) << uri;
  }
  try {
    record("test://bix");
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("static, box, noise, pan, fade, cut"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace saccade::test
