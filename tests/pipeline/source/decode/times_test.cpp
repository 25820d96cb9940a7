// Presentation times against ffprobe, and the spans that --start, --duration, --frames and --loop cut out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "pipeline/error.h"
#include "pipeline/source/frame/pts_clock.h"
#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

void expect_ffprobe_times(const std::string& path) {
  const std::vector<double> truth = ffprobe_times(path);
  const std::vector<std::int64_t> times = record(path).times_ns();
  ASSERT_EQ(times.size(), truth.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(times[i]) * 1e-9, truth[i], 0.51e-6) << "frame " << i;
  }
}

const std::string kSource = "-f lavfi -i testsrc2=size=64x48:rate=";

TEST(FrameTimes, BFrames_EqualFfprobe) {
  const TempDir dir;
  ffmpeg(kSource + "25:duration=1.2 -c:v libx264 -bf 3 -g 10 " + dir.file("b.mp4"));
  expect_ffprobe_times(dir.file("b.mp4"));
  ffmpeg("-i " + dir.file("b.mp4") + " -c copy " + dir.file("b.mkv"));
  expect_ffprobe_times(dir.file("b.mkv"));
  ffmpeg("-i " + dir.file("b.mp4") + " -c copy " + dir.file("b.ts"));
  expect_ffprobe_times(dir.file("b.ts"));
}

TEST(FrameTimes, VariableRate_EqualsFfprobe) {
  const TempDir dir;
  ffmpeg(kSource + "30:duration=2 -vf \"select='not(mod(n,3))+eq(mod(n,7),2)'\" -fps_mode vfr -c:v libx264 " +
         dir.file("v.mkv"));
  expect_ffprobe_times(dir.file("v.mkv"));
}

TEST(FrameTimes, LateOrNegativeStart_IsKept) {
  const TempDir dir;
  ffmpeg(kSource + "25:duration=0.4 -c:v libx264 -output_ts_offset 3.2 " + dir.file("late.mkv"));
  expect_ffprobe_times(dir.file("late.mkv"));
  EXPECT_NEAR(static_cast<double>(record(dir.file("late.mkv")).times_ns().front()) * 1e-9, 3.2, 1e-3);
  // A transport stream whose 33-bit clock wraps after a few frames: libavformat counts up to the wrap from below zero.
  ffmpeg(kSource + "25:duration=0.8 -c:v libx264 -output_ts_offset 95442 " + dir.file("wrap.ts"));
  expect_ffprobe_times(dir.file("wrap.ts"));
  EXPECT_LT(record(dir.file("wrap.ts")).times_ns().front(), 0);
}

TEST(FrameTimes, FilmAndTelevisionRates_AreExact) {
  const TempDir dir;
  for (const char* rate : {"24000/1001", "30000/1001"}) {
    ffmpeg(kSource + rate + ":duration=3 -c:v libx264 -video_track_timescale " + std::string(rate, 5) + " " +
           dir.file("f.mp4"));
    expect_ffprobe_times(dir.file("f.mp4"));
    const std::vector<std::int64_t> times = record(dir.file("f.mp4")).times_ns();
    const double period = 1001.0 / std::stod(std::string(rate, 5));
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(i) * period * 1e9, 1.0) << rate << " frame " << i;
    }
  }
}

TEST(FrameTimes, ThousandsOfFramesASecond_StayWithinAMillisecond) {
  const TempDir dir;
  for (const char* name : {"1500.mkv", "4000.mkv", "10000.mkv", "4000.flv"}) {
    const std::string codec = std::string(name).ends_with("flv") ? "flv" : "ffv1";
    ffmpeg("-f lavfi -i testsrc2=size=64x48:duration=0.2:rate=" + std::to_string(std::stoi(name)) +
           " -fps_mode passthrough -c:v " + codec + " " + dir.file(name));
    const std::vector<double> truth = ffprobe_times(dir.file(name));
    const std::vector<std::int64_t> times = record(dir.file(name)).times_ns();
    ASSERT_EQ(times.size(), truth.size()) << name;
    ASSERT_EQ(times.size(), static_cast<std::size_t>(std::stoi(name) / 5)) << name;
    for (std::size_t i = 0; i < times.size(); ++i) {
      ASSERT_LT(std::abs(static_cast<double>(times[i]) * 1e-9 - truth[i]), 1e-3) << name << " frame " << i;
      if (i > 0) {
        ASSERT_GT(times[i], times[i - 1]) << name << " frame " << i;
      }
    }
  }
}

// A clip of 50 frames at 25 fps whose luma tells the frame: 16 + 4 n.
std::string counting_clip(const TempDir& dir, const std::string& name, const std::string& options) {
  ffmpeg("-f lavfi -i color=black:size=32x32:rate=25:duration=2,format=yuv420p,geq=lum='16+4*N':cb=128:cr=128 " +
         options + " " + dir.file(name));
  return dir.file(name);
}

int frame_number(const Shot& shot) { return (shot.bytes[17 * 32 + 16] - 16 + 2) / 4; }

class Spans : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Spans, Start_IsTheExactFrame) {
  const TempDir dir;
  SourceConfig config;
  config.uri = counting_clip(dir, GetParam().first, GetParam().second);
  const std::vector<std::int64_t> all = record(config).times_ns();
  ASSERT_EQ(all.size(), 50U);
  for (const int first : {1, 7, 24, 25, 26, 38, 49}) {
    config.start_s = first * 0.04;
    const Recording got = record(config);
    ASSERT_EQ(got.shots.size(), static_cast<std::size_t>(50 - first)) << "from " << first;
    for (std::size_t i = 0; i < got.shots.size(); ++i) {
      ASSERT_EQ(frame_number(got.shots[i]), first + static_cast<int>(i));
      ASSERT_EQ(got.shots[i].view.pts_ns, all[static_cast<std::size_t>(first) + i]);
      ASSERT_EQ(got.shots[i].view.sequence, static_cast<std::int64_t>(i));
    }
  }
  config.start_s = 0.39;  // between two frames: the next one
  config.duration_s = 0.2;
  const Recording span = record(config);
  ASSERT_EQ(span.shots.size(), 5U);
  EXPECT_EQ(frame_number(span.shots.front()), 10);
  EXPECT_FALSE(span.counters.truncated);
}

TEST_P(Spans, Loop_HasRisingTimes) {
  const TempDir dir;
  SourceConfig config;
  config.uri = counting_clip(dir, GetParam().first, GetParam().second);
  config.start_s = 0.4;
  config.duration_s = 0.4;
  config.loops = 2;
  const Recording got = record(config);
  ASSERT_EQ(got.shots.size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(frame_number(got.shots[i]), 10 + static_cast<int>(i % 10));
    EXPECT_EQ(got.shots[i].view.pts_ns, got.shots[0].view.pts_ns + static_cast<std::int64_t>(i) * 40000000);
  }
  config.max_frames = 17;
  EXPECT_EQ(record(config).shots.size(), 17U);
}

INSTANTIATE_TEST_SUITE_P(Containers, Spans,
                         testing::Values(std::pair("a.mp4", "-c:v libx264 -qp 1 -g 12 -bf 3"),
                                         std::pair("a.mkv", "-c:v libx264 -qp 1 -g 50 -bf 2"),
                                         std::pair("a.ts", "-c:v libx264 -qp 1 -g 12 -bf 2"),
                                         std::pair("open.mp4",
                                                   "-c:v libx264 -qp 1 -g 10 -bf 3 -x264-params open-gop=1"),
                                         std::pair("a.h264", "-c:v libx264 -qp 1 -g 12 -bf 0")),
                         [](const auto& clip) { return test_name(clip.param.first); });

TEST(SourceError, StartBehindTheEnd_IsRefused) {
  const TempDir dir;
  SourceConfig config;
  config.uri = counting_clip(dir, "a.mp4", "-c:v libx264");
  config.start_s = 60;
  EXPECT_THROW(open_source(config), InputError);
}

TEST(PtsClock, MissingTimes_AreMadeUp) {
  PtsClock clock(40);
  EXPECT_EQ(clock.next(std::nullopt, 0).pts_ns, 0);
  EXPECT_EQ(clock.next(std::nullopt, 0).pts_ns, 40);
  EXPECT_EQ(clock.next(100, 10).pts_ns, 100);
  const FrameTime time = clock.next(std::nullopt, 10);
  EXPECT_EQ(time.pts_ns, 110);
  EXPECT_TRUE(time.made_up);
}

TEST(PtsClock, OneTimeThatDoesNotRise_IsForgiven) {
  PtsClock clock(40);
  EXPECT_EQ(clock.next(0, 40).pts_ns, 0);
  EXPECT_EQ(clock.next(40, 40).pts_ns, 40);
  const FrameTime bad = clock.next(40, 40);
  EXPECT_EQ(bad.pts_ns, 80);
  EXPECT_TRUE(bad.not_rising);
  EXPECT_EQ(clock.next(120, 40).pts_ns, 120);
}

TEST(PtsClock, DuplicateTime_IsExactAgainAfterwards) {
  PtsClock clock(40);
  std::vector<std::int64_t> given;
  for (const std::int64_t raw : {0, 40, 40, 80, 120, 160}) given.push_back(clock.next(raw, 40).pts_ns);
  EXPECT_EQ(given, (std::vector<std::int64_t>{0, 40, 80, 82, 120, 160}));
  given.clear();
  for (const std::int64_t raw : {200, 200, 200, 240, 280, 320}) given.push_back(clock.next(raw, 40).pts_ns);
  EXPECT_EQ(given.back(), 320);
  EXPECT_TRUE(std::is_sorted(given.begin(), given.end(), std::less_equal<>()));
}

TEST(PtsClock, StreamThatJumpsBack_IsFollowed) {
  PtsClock clock(40);
  std::vector<std::int64_t> given;
  for (const std::int64_t raw : {1000, 1040, 1080, 0, 40, 90, 130}) given.push_back(clock.next(raw, 40).pts_ns);
  EXPECT_EQ(given, (std::vector<std::int64_t>{1000, 1040, 1080, 1120, 1160, 1210, 1250}));
}

// 4000 frames a second, stamped in whole milliseconds.
TEST(PtsClock, CoarseStamps_AreSpreadInsideTheirUnit) {
  constexpr std::int64_t kUnit = 1000;
  for (const std::int64_t rate_known : {kUnit / 4, kUnit, kUnit * 40}) {
    PtsClock clock(rate_known, kUnit);
    std::int64_t last = -1;
    clock.next(-kUnit, 0);  // stamps that rise by one unit tell what they are
    for (std::int64_t i = 0; i < 4000; ++i) {
      const std::int64_t stamp = i / 4 * kUnit;
      const std::int64_t given = clock.next(stamp, 0).pts_ns;
      ASSERT_GT(given, last) << i;
      ASSERT_GE(given, stamp) << i;
      ASSERT_LT(given, stamp + kUnit) << i;
      if (i > 4) {
        ASSERT_EQ(given, i * kUnit / 4) << i;
      }
      last = given;
    }
  }
}

TEST(PtsClock, AHundredFramesInAUnit_StillRise) {
  PtsClock clock(1000000, 1000000);
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::int64_t stamp = i / 100 * 1000000;
    const std::int64_t given = clock.next(stamp, 1000000).pts_ns;
    ASSERT_GT(given, last) << i;
    ASSERT_LT(given, stamp + 1000000) << i;
    last = given;
  }
}

// At 25 frames a second a doubled stamp in milliseconds is a frame with a place of its own.
TEST(PtsClock, DoubledStampOfASlowStream_TakesAFrame) {
  PtsClock clock(40000000, 1000000);
  std::vector<std::int64_t> given;
  for (const std::int64_t raw : {0, 40, 40, 120}) given.push_back(clock.next(raw * 1000000, 40000000).pts_ns / 1000000);
  EXPECT_EQ(given, (std::vector<std::int64_t>{0, 40, 80, 120}));
}

TEST(PtsClock, NegativeTimes_AreKept) {
  PtsClock clock(40);
  EXPECT_EQ(clock.next(-80, 40).pts_ns, -80);
  EXPECT_EQ(clock.next(-40, 40).pts_ns, -40);
}

}  // namespace
}  // namespace saccade::test
