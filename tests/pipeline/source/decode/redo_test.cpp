// Damaged pictures: what a decoder leaves undecoded is the same in every run.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

// Every 211th byte of the middle half is inverted, frames of 12 changing pictures.
std::string broken_clip(const TempDir& dir, const std::string& name, const std::string& codec) {
  ffmpeg("-f lavfi -i testsrc2=size=160x120:rate=25:duration=0.48 " + codec + " " + dir.file("whole-" + name));
  std::ifstream whole(dir.file("whole-" + name), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
  for (std::size_t at = bytes.size() / 4; at < bytes.size() * 3 / 4; at += 211) {
    bytes[at] = static_cast<char>(~static_cast<unsigned char>(bytes[at]));
  }
  std::ofstream(dir.file(name), std::ios::binary) << bytes;
  return dir.file(name);
}

class DamagedPictures : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DamagedPictures, EachRun_GivesTheSameBytes) {
  const TempDir dir;
  SourceConfig config;
  config.uri = broken_clip(dir, GetParam().first, GetParam().second);
  config.threads = 1;
  const Recording once = record(config);
  ASSERT_GT(once.shots.size(), 4U);
  for (const int threads : {4, 0, 2, 4}) {
    config.threads = threads;
    EXPECT_EQ(record(config).all_bytes(), once.all_bytes()) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, DamagedPictures,
                         testing::Values(std::pair("mjpeg.avi", "-c:v mjpeg -q:v 3 -pix_fmt yuvj420p"),
                                         std::pair("mjpeg.mkv", "-c:v mjpeg -q:v 3 -pix_fmt yuvj422p"),
                                         std::pair("dnxhr.mov",
                                                   "-vf scale=320:240 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p"),
                                         std::pair("prores.mov", "-c:v prores_ks"),
                                         std::pair("huffyuv.avi", "-c:v ffvhuff -pix_fmt yuv420p")),
                         [](const auto& clip) {
                           const std::string name = clip.param.first;
                           return name.substr(0, name.find('.')) + "_" + name.substr(name.find('.') + 1);
                         });

// New memory is zero: ffmpeg on a picture in a file of its own tells which part is decoded.
TEST(DamagedPicture, UndecodedPart_ShowsThePictureBefore) {
  const TempDir dir;
  const std::string path = broken_clip(dir, "a.avi", "-c:v mjpeg -q:v 3 -pix_fmt yuvj420p");
  ffmpeg("-i " + path + " -c copy -f image2 " + dir.file("p%02d.jpg"));
  const Recording ours = record(path);
  int compared = 0;
  std::size_t filled = 0;
  for (std::size_t n = 1; n < ours.shots.size(); ++n) {
    const Shot& shot = ours.shots[n];
    const std::int64_t number = shot.view.pts_ns / 40000000 + 1;
    char name[40];
    std::snprintf(name, sizeof name, "p%02d.jpg", static_cast<int>(number));
    std::vector<std::uint8_t> alone;
    try {
      alone = ffmpeg_raw("-threads 1", dir.file(name), "-pix_fmt yuvj420p");
    } catch (const std::runtime_error&) {
      continue;  // ffmpeg gives nothing of this one
    }
    ASSERT_EQ(shot.bytes.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const bool undecoded = alone[i] == 0 && shot.bytes[i] == ours.shots[n - 1].bytes[i];
      ASSERT_TRUE(shot.bytes[i] == alone[i] || undecoded) << "picture " << number << ", byte " << i;
      filled += shot.bytes[i] != alone[i] ? 1 : 0;
    }
    ++compared;
  }
  EXPECT_GT(filled, 1000U);
  EXPECT_GT(compared, 4);
}

}  // namespace
}  // namespace saccade::test
