// Beginning midway: --start and seeks give the pictures of a whole run, whatever the codec's key frames are.
#include <gtest/gtest.h>

#include "pipeline/source/decode/layers.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

struct Clip {
  const char* name;
  const char* options;
};

class Entry : public testing::TestWithParam<Clip> {
 protected:
  // Four seconds in which every part of the picture changes all the time.
  std::string make() const {
    ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=4,format=yuv420p " + std::string(GetParam().options) +
           " " + dir_.file(GetParam().name));
    return dir_.file(GetParam().name);
  }
  const TempDir dir_;
};

TEST_P(Entry, Start_GivesThePicturesOfTheWholeRun) {
  SourceConfig config;
  config.uri = make();
  const Recording whole = record(config);
  ASSERT_EQ(whole.shots.size(), 100U);
  ASSERT_EQ(whole.counters.packets_corrupt, 0);
  ASSERT_EQ(whole.counters.frames_corrupt, 0);
  expect_starts(config, whole, {3, 24, 37, 49, 50, 51, 55, 58, 62, 76, 97});
}

TEST_P(Entry, Seek_GivesThePicturesOfTheWholeRun) {
  SourceConfig config;
  config.uri = make();
  const Recording whole = record(config);
  expect_seeks(config, whole, {60, 30, 31, 95, 0, 52});
}

#define X264 "-c:v libx264 -preset veryfast -qp 20 "
INSTANTIATE_TEST_SUITE_P(
    Clips, Entry,
    testing::Values(Clip{"refresh.mp4", X264 "-x264-params intra-refresh=1:keyint=12:scenecut=0"},
                    Clip{"refresh.mkv", X264 "-x264-params intra-refresh=1:keyint=20:scenecut=0"},
                    Clip{"refresh.ts", X264 "-x264-params intra-refresh=1:keyint=12:ref=3:scenecut=0"},
                    Clip{"refresh_long.mp4", X264 "-x264-params intra-refresh=1:keyint=250:scenecut=0"},
                    Clip{"open_264.mp4", X264 "-g 12 -bf 3 -x264-params open-gop=1:scenecut=0"},
                    Clip{"open_264.mkv", X264 "-g 12 -bf 3 -x264-params open-gop=1:scenecut=0:b-pyramid=2"},
                    Clip{"open_264.ts", X264 "-g 12 -bf 3 -x264-params open-gop=1:scenecut=0"},
                    Clip{"open_265.mp4",
                         "-c:v libx265 -preset ultrafast -x265-params "
                         "open-gop=1:keyint=12:min-keyint=12:bframes=3:log-level=none"},
                    Clip{"open_265.ts",
                         "-c:v libx265 -preset ultrafast -x265-params "
                         "open-gop=1:keyint=12:min-keyint=12:bframes=3:log-level=none"},
                    Clip{"open_2.ts", "-c:v mpeg2video -q:v 3 -g 12 -bf 2"},
                    Clip{"open_2.mkv", "-c:v mpeg2video -q:v 3 -g 12 -bf 2"},
                    Clip{"four.mp4", "-c:v mpeg4 -q:v 3 -g 12 -bf 2"},
                    Clip{"vp9.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 12 -b:v 500k"}),
    [](const auto& clip) { return test_name(clip.param.name); });
#undef X264

// Two frames of profile 0: one hidden, or both shown. Bits: marker 10, profile 00, show_existing 0, type, show, error.
TEST(SpatialLayers, Superframe_CountsItsShownFrames) {
  const auto superframe = [](std::uint8_t first, std::uint8_t second) {
    return std::vector<std::uint8_t>{first, 1, second, 2, 3, 0xc1, 2, 3, 0xc1};
  };
  const auto shown = [](const std::vector<std::uint8_t>& data) { return shown_vp9_frames(data.data(), data.size()); };
  EXPECT_EQ(shown(superframe(0b10000010, 0b10000110)), 2);
  EXPECT_EQ(shown(superframe(0b10000000, 0b10000110)), 1);
  EXPECT_EQ(shown(superframe(0b10001000, 0b10000110)), 2) << "a frame that exists already";
  EXPECT_EQ(shown({0b10000010, 1, 2}), 1) << "no superframe";
  EXPECT_EQ(shown({}), 0);
  EXPECT_EQ(shown({0xc1, 0xff, 0xff, 0xc1}), 1) << "lengths beyond the packet";
}

}  // namespace
}  // namespace saccade::test
