// Pictures in files of their own: patterns, globs, gaps, literal names that look like patterns.
#include <gtest/gtest.h>

#include "pipeline/error.h"
#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

namespace fs = std::filesystem;

// `count` numbered pictures, each different.
void make_pictures(const std::string& pattern, int first, int count) {
  ffmpeg("-f lavfi -i testsrc2=size=32x24:rate=25 -frames:v " + std::to_string(count) + " -start_number " +
         std::to_string(first) + " " + quoted(pattern));
}

void expect_same(const std::string& uri, const std::string& input_options, std::size_t count) {
  const Recording got = record(uri);
  EXPECT_EQ(got.status, ReadStatus::kEnd) << got.fault.what;
  EXPECT_EQ(got.shots.size(), count) << uri;
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw(input_options, uri, "-pix_fmt rgba")) << uri;
  EXPECT_FALSE(got.counters.truncated);
  EXPECT_EQ(got.counters.packets_corrupt, 0);
  const std::vector<std::int64_t> times = got.times_ns();
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], static_cast<std::int64_t>(i) * 40000000);
}

TEST(PictureSequence, Numbered_CountsUpFromTheLowest) {
  const TempDir dir;
  make_pictures(dir.file("f%03d.png"), 7, 6);
  expect_same(dir.file("f%03d.png"), "-start_number 7", 6);
  make_pictures(dir.file("g%d.png"), 8, 5);  // 8 to 12: digits grow
  expect_same(dir.file("g%d.png"), "-start_number 8", 5);
  make_pictures(dir.file("2024_h%02d_v2.png"), 0, 3);  // other digits in the name
  expect_same(dir.file("2024_h%02d_v2.png"), "", 3);
}

TEST(PictureSequence, Gap_EndsItAndIsTold) {
  const TempDir dir;
  make_pictures(dir.file("f%04d.png"), 1, 9);
  fs::remove(dir.file("f0004.png"));
  const Recording got = record(dir.file("f%04d.png"));
  EXPECT_EQ(got.shots.size(), 3U);
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", dir.file("f%04d.png"), "-frames:v 3 -pix_fmt rgba"));
  EXPECT_FALSE(got.counters.truncated);
  ASSERT_FALSE(got.info.notes.empty());
  EXPECT_NE(got.info.notes[0].find("no number 4; 5 later pictures are left out"), std::string::npos)
      << got.info.notes[0];
}

TEST(PictureSequence, StartAndLoop_RepeatTheRest) {
  const TempDir dir;
  make_pictures(dir.file("f%04d.png"), 1, 9);
  fs::remove(dir.file("f0008.png"));
  SourceConfig config;
  config.uri = dir.file("f%04d.png");
  config.start_s = 0.16;
  config.loops = 1;
  const Recording got = record(config);
  EXPECT_EQ(got.shots.size(), 6U);
  const std::vector<std::uint8_t> once = ffmpeg_raw("-start_number 5", config.uri, "-frames:v 3 -pix_fmt rgba");
  std::vector<std::uint8_t> both = once;
  both.insert(both.end(), once.begin(), once.end());
  EXPECT_EQ(got.all_bytes(), both);
}

TEST(PictureSequence, Glob_EqualsFfmpeg) {
  const TempDir dir;
  make_pictures(dir.file("a%d.png"), 1, 4);
  fs::rename(dir.file("a2.png"), dir.file("z.png"));
  expect_same(dir.file("*.png"), "-f image2 -pattern_type glob", 4);
  expect_same(dir.file("a[13].png"), "-f image2 -pattern_type glob", 2);
  expect_same(dir.file("?.png"), "-f image2 -pattern_type glob", 1);
}

// A name is a pattern only where no file has it.
TEST(PictureSequence, FileOfThatName_IsReadInstead) {
  const TempDir dir;
  make_pictures(dir.file("f%03d.png"), 1, 3);
  const std::vector<std::uint8_t> first = record(dir.file("f001.png")).all_bytes();
  for (const char* name : {"f%03d.png", "f*.png", "f[0].png", "{f}.png", "f?.png"}) {
    fs::copy_file(dir.file("f001.png"), dir.file(name));
    const Recording got = record(dir.file(name));
    EXPECT_EQ(got.shots.size(), 1U) << name;
    EXPECT_EQ(got.all_bytes(), first) << name;
  }
}

TEST(PictureSequence, OddFolderName_IsRead) {
  const TempDir dir;
  for (const char* folder : {"a:b", "100%", "sp ace"}) fs::create_directory(dir.file(folder));
  make_pictures(dir.file("a:b") + "/f%02d.png", 1, 3);
  expect_same(dir.file("a:b") + "/f%02d.png", "", 3);
  make_pictures(dir.file("100%%") + "/f%02d.png", 1, 3);
  expect_same(dir.file("100%%") + "/f%02d.png", "", 3);
  make_pictures(dir.file("sp ace") + "/f%02d.png", 1, 3);
  expect_same(dir.file("sp ace") + "/*.png", "-f image2 -pattern_type glob", 3);
}

TEST(PictureSequence, NoMatch_IsRefused) {
  const TempDir dir;
  make_pictures(dir.file("f%03d.png"), 1, 2);
  for (const char* name : {"g%03d.png", "f%05d.png", "*.jpg", "none/f%03d.png"}) {
    try {
      record(dir.file(name));
      ADD_FAILURE() << name << " was opened";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST(PictureSequence, OtherSizes_AreScaledToTheFirst) {
  const TempDir dir;
  make_pictures(dir.file("f%d.png"), 1, 2);
  ffmpeg("-f lavfi -i color=c=0x28be3c:size=64x90:rate=25,format=rgb24 -frames:v 1 " + dir.file("f3.png"));
  ffmpeg("-f lavfi -i color=c=gray:size=8x8:rate=25 -pix_fmt gray -frames:v 1 " + dir.file("f4.png"));
  const Recording got = record(dir.file("f%d.png"));
  ASSERT_EQ(got.shots.size(), 4U);
  EXPECT_EQ(got.counters.format_changes, 2);
  for (const Shot& shot : got.shots) {
    EXPECT_EQ(shot.view.width_px, 32);
    EXPECT_EQ(shot.view.height_px, 24);
  }
  EXPECT_EQ(rgb_at(got.shots[2].view, 16, 12), (std::array<double, 3>{40, 190, 60}));
}

TEST(PictureSequence, GivenRate_SetsTheTimes) {
  const TempDir dir;
  make_pictures(dir.file("f%d.png"), 1, 4);
  SourceConfig config;
  config.uri = dir.file("f%d.png");
  config.input.rate = "30000/1001";
  const std::vector<std::int64_t> expected = {0, 33366667, 66733333, 100100000};
  EXPECT_EQ(record(config).times_ns(), expected);
}

// Raw video says nothing of itself.
TEST(RawVideo, Described_IsReadAsAsked) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=34x22:rate=10 -frames:v 5 -f rawvideo -pix_fmt nv12 " + dir.file("a.bin"));
  SourceConfig config;
  config.uri = dir.file("a.bin");
  config.input = {"rawvideo", "34x22", "10", "nv12"};
  const Recording got = record(config);
  EXPECT_EQ(got.info.pixel_format, "nv12");
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("-f rawvideo -video_size 34x22 -pixel_format nv12", config.uri, ""));
  EXPECT_EQ(got.times_ns(), (std::vector<std::int64_t>{0, 100000000, 200000000, 300000000, 400000000}));
  EXPECT_FALSE(got.counters.truncated);
  fs::resize_file(config.uri, 34 * 22 * 3 / 2 * 3 + 100);
  const Recording cut = record(config);
  EXPECT_EQ(cut.shots.size(), 3U);
  EXPECT_GT(cut.counters.packets_corrupt, 0) << "a part of a frame is left over";
}

TEST(RawVideo, NoSize_IsRefused) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=34x22:rate=10 -frames:v 2 -f rawvideo -pix_fmt nv12 " + dir.file("a.yuv"));
  try {
    record(dir.file("a.yuv"));
    ADD_FAILURE() << "it was opened";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("raw video says nothing about itself"), std::string::npos) << error.what();
    EXPECT_EQ(error.hint(), Hint::kRawParameters);
  }
}

TEST(InputHints, WithoutUse_AreRefused) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=34x22:rate=10 -frames:v 2 -c:v ffv1 " + dir.file("a.mkv"));
  const auto opens = [&](const InputHints& hints) {
    SourceConfig config;
    config.uri = dir.file("a.mkv");
    config.input = hints;
    return record(config).shots.size();
  };
  EXPECT_EQ(opens({"matroska", "", "", ""}), 2U);
  EXPECT_THROW(opens({"", "34x22", "", ""}), UsageError) << "the file says its size";
  EXPECT_THROW(opens({"", "", "25", ""}), UsageError);
  EXPECT_THROW(opens({"", "", "", "nv12"}), UsageError);
  EXPECT_THROW(opens({"nosuch", "", "", ""}), UsageError);
  EXPECT_THROW(opens({"rawvideo", "banana", "", ""}), UsageError);
  EXPECT_THROW(opens({"rawvideo", "34x22", "no rate", ""}), UsageError);
  EXPECT_THROW(opens({"rawvideo", "34x22", "", "purple"}), UsageError);
}

class StillPicture : public testing::TestWithParam<const char*> {};

TEST_P(StillPicture, AnyFormat_IsOneFrame) {
  const TempDir dir;
  const std::string path = dir.file(std::string("f001.") + GetParam());
  ffmpeg("-f lavfi -i testsrc2=size=32x24:rate=25 -frames:v 1 " + path);
  const Recording got = record(path);
  EXPECT_EQ(got.status, ReadStatus::kEnd);
  ASSERT_EQ(got.shots.size(), 1U);
  EXPECT_EQ(got.times_ns()[0], 0);
  EXPECT_EQ(got.info.width_px, 32);
  EXPECT_FALSE(got.counters.truncated);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StillPicture,
                         testing::Values("png", "jpg", "bmp", "tiff", "webp", "ppm", "tga", "jp2", "gif", "dpx"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace saccade::test
