// Streams whose stamps begin again: starts, seeks and whole runs, and Ogg's chained links.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>

#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

constexpr int kRate = 25;

// Files made alike, `seconds` long each, with other pictures in each.
std::vector<std::string> make_parts(const TempDir& dir, const std::string& options, const std::string& end,
                                    std::initializer_list<int> seconds) {
  std::vector<std::string> parts;
  for (const int length : seconds) {
    parts.push_back(dir.file("part" + std::to_string(parts.size()) + end));
    ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=" + std::to_string(length) +
           ",hue=h=" + std::to_string(90 * parts.size()) + ",format=yuv420p " + options + " " + parts.back());
  }
  return parts;
}

// End to end; `skip`: bytes of the header that later parts lose.
void join(const std::vector<std::string>& parts, const std::string& path, std::streamoff skip = 0) {
  std::ofstream out(path, std::ios::binary);
  for (const std::string& part : parts) {
    std::ifstream in(part, std::ios::binary);
    if (&part != parts.data()) in.seekg(skip);
    out << in.rdbuf();
  }
}

void expect_pictures_of(const Recording& got, const std::vector<std::string>& parts) {
  std::vector<std::uint8_t> truth;
  for (const std::string& part : parts) {
    const std::vector<std::uint8_t> more = ffmpeg_raw("", part, "");
    truth.insert(truth.end(), more.begin(), more.end());
  }
  EXPECT_TRUE(got.all_bytes() == truth);
  EXPECT_EQ(got.counters.damage(), "");
  EXPECT_FALSE(got.counters.truncated);
}

void expect_even_times(const Recording& got) {
  for (std::size_t i = 1; i < got.shots.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.times_ns()[i] - got.times_ns()[0]), static_cast<double>(i) * 1e9 / kRate, 2e6)
        << "frame " << i;
  }
}

struct Clip {
  const char* name;
  const char* options;
  std::streamoff header = 0;  // that later parts lose
};

class StampsAgain : public testing::TestWithParam<Clip> {
 protected:
  void SetUp() override {
    const Clip& clip = GetParam();
    parts_ = make_parts(dir_, clip.options, std::filesystem::path(clip.name).extension().string(), {4, 7, 2});
    config_.uri = dir_.file(clip.name);
    join(parts_, config_.uri, clip.header);
    whole_ = record(config_);
    ASSERT_EQ(whole_.shots.size(), 325U);
  }
  const TempDir dir_;
  std::vector<std::string> parts_;
  SourceConfig config_;
  Recording whole_;
};

TEST_P(StampsAgain, StartsAndSeeks_GiveThePicturesOfTheWhole) {
  expect_pictures_of(whole_, parts_);
  expect_even_times(whole_);
  expect_starts(config_, whole_, {13, 99, 100, 150, 275, 300});
  expect_seeks(config_, whole_, {300, 30, 120, 98, 0, 20});
}

#define MPEG2 "-c:v mpeg2video -q:v 3 -g 25 -bf 2"
#define X264 "-c:v libx264 -preset veryfast -g 25 -bf 2"
INSTANTIATE_TEST_SUITE_P(Clips, StampsAgain,
                         testing::Values(Clip{"a.mpg", MPEG2}, Clip{"a.vob", MPEG2 " -f vob"}, Clip{"a.ts", MPEG2},
                                         Clip{"b.ts", X264}, Clip{"a.m2ts", X264}, Clip{"a.flv", "-c:v flv1 -g 25", 13},
                                         Clip{"b.flv", X264, 13}, Clip{"a.ogv", "-c:v libtheora -g 25"},
                                         Clip{"b.ogv", "-c:v libvpx -deadline realtime -g 25 -f ogg"}),
                         [](const auto& clip) { return test_name(clip.param.name); });
#undef X264
#undef MPEG2

class OggChain : public testing::TestWithParam<const char*> {};

TEST_P(OggChain, WithSound_IsWhole) {
  const TempDir dir;
  std::vector<std::string> parts;
  for (const std::string& silent : make_parts(dir, "-c:v libtheora -g 25", ".ogv", {3, 5})) {
    parts.push_back(dir.file("sound" + std::to_string(parts.size()) + ".ogv"));
    ffmpeg("-i " + silent + " -f lavfi -i sine=d=4 -map 0 -map 1 -c:v copy -c:a " + GetParam() + " " + parts.back());
  }
  SourceConfig config;
  config.uri = dir.file("chain.ogv");
  join({parts[0], parts[1], parts[0]}, config.uri);
  const Recording whole = record(config);
  ASSERT_EQ(whole.shots.size(), 275U);
  expect_pictures_of(whole, {parts[0], parts[1], parts[0]});
  expect_even_times(whole);
  expect_starts(config, whole, {20, 75, 140, 230});
}

TEST_P(OggChain, OfTheSameStreams_IsWhole) {
  const TempDir dir;
  const std::string part = dir.file("part.ogv");
  ffmpeg(std::string(
             "-f lavfi -i testsrc2=size=96x64:rate=25:duration=3 -f lavfi -i sine=d=3 -g 25 -c:v libtheora -c:a ") +
         GetParam() + " " + part);
  join({part, part}, dir.file("chain.ogv"));
  const Recording whole = record(dir.file("chain.ogv"));
  ASSERT_EQ(whole.shots.size(), 150U);
  expect_pictures_of(whole, {part, part});
}

INSTANTIATE_TEST_SUITE_P(Sounds, OggChain, testing::Values("libvorbis", "libopus", "flac"),
                         [](const auto& sound) { return test_name(sound.param); });

TEST(OggChains, AnotherSizeAndQuality_IsDecodedByItsOwnHeaders) {
  const TempDir dir;
  const auto make = [&](const std::string& name, const std::string& size, const std::string& quality) {
    ffmpeg("-f lavfi -i testsrc2=size=" + size + ":rate=25:duration=2,format=yuv420p -c:v libtheora -g 25 -q:v " +
           quality + " " + dir.file(name));
    return dir.file(name);
  };
  const std::string small = make("small.ogv", "96x64", "3"), fine = make("fine.ogv", "96x64", "10");
  const std::string large = make("large.ogv", "192x128", "5");
  join({small, fine}, dir.file("quality.ogv"));
  expect_pictures_of(record(dir.file("quality.ogv")), {small, fine});
  join({small, large, fine}, dir.file("sizes.ogv"));
  SourceConfig config;
  config.uri = dir.file("sizes.ogv");
  config.keep_first_format = false;
  const Recording sizes = record(config);
  ASSERT_EQ(sizes.shots.size(), 150U);
  expect_pictures_of(sizes, {small, large, fine});
  EXPECT_EQ(sizes.counters.format_changes, 2);
}

}  // namespace
}  // namespace saccade::test
