// Fields: woven, deinterlaced, left to the user's filters; ffmpeg's bwdif is the truth.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

constexpr const char* kBwdif = "bwdif=mode=send_frame:deint=interlaced";

// 20 fields of a moving picture as 10 frames.
std::string make_interlaced(const TempDir& dir, const std::string& name, const std::string& order,
                            const std::string& codec) {
  const bool top = order == "tff";
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=50:duration=0.4 -vf tinterlace=interleave_" +
         std::string(top ? "top" : "bottom") + ",setfield=" + order + " " + codec + " " + dir.file(name));
  return dir.file(name);
}

Recording record_with(const std::string& path, Deinterlace mode, const std::string& filters = "") {
  SourceConfig config;
  config.uri = path;
  config.deinterlace = mode;
  config.filters = filters;
  return record(config);
}

bool says(const StreamInfo& info, const std::string& words) {
  for (const std::string& note : info.notes) {
    if (note.find(words) != std::string::npos) return true;
  }
  return false;
}

class Interlaced : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Interlaced, AnyCodec_IsDeinterlacedOneForOne) {
  const auto& [order, codec] = GetParam();
  const TempDir dir;
  const std::string path = make_interlaced(dir, std::string(codec).find("mpeg2") ? "a.ts" : "a.mkv", order, codec);
  const Recording woven = record_with(path, Deinterlace::kNo);
  const Recording whole = record_with(path, Deinterlace::kAuto);
  EXPECT_EQ(whole.shots.size(), 10U);
  EXPECT_EQ(whole.times_ns(), woven.times_ns());
  EXPECT_EQ(woven.all_bytes(), ffmpeg_raw("", path, ""));
  EXPECT_EQ(whole.all_bytes(), ffmpeg_raw("", path, std::string("-vf ") + kBwdif));
  EXPECT_NE(whole.all_bytes(), woven.all_bytes());
  EXPECT_TRUE(whole.info.deinterlaced);
  EXPECT_FALSE(woven.info.deinterlaced);
  const std::string first = std::string(order) == "tff" ? "top field first" : "bottom field first";
  EXPECT_TRUE(says(whole.info, first)) << "the order is said";
  EXPECT_TRUE(says(woven.info, "left woven"));
}

TEST_P(Interlaced, UserFilters_GetFieldsOnlyIfTheyKnowThem) {
  const auto& [order, codec] = GetParam();
  const TempDir dir;
  const std::string path = make_interlaced(dir, std::string(codec).find("mpeg2") ? "a.ts" : "a.mkv", order, codec);
  const Recording fields = record_with(path, Deinterlace::kAuto, "yadif=mode=send_field");
  EXPECT_EQ(fields.all_bytes(), ffmpeg_raw("", path, "-vf yadif=mode=send_field"));
  EXPECT_EQ(fields.shots.size(), 20U);
  EXPECT_FALSE(fields.info.deinterlaced);
  const Recording scaled = record_with(path, Deinterlace::kAuto, "scale=48:32");  // after the fields are taken apart
  EXPECT_EQ(scaled.all_bytes(), ffmpeg_raw("", path, std::string("-vf ") + kBwdif + ",scale=48:32"));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Interlaced,
    testing::Values(std::pair("tff", "-c:v mpeg2video -flags +ildct+ilme -q:v 2"),
                    std::pair("bff", "-c:v mpeg2video -flags +ildct+ilme -q:v 2"),
                    std::pair("tff", "-c:v libx264 -preset ultrafast -x264-params tff=1 -bf 2 -pix_fmt yuv420p"),
                    std::pair("bff", "-c:v libx264 -preset ultrafast -x264-params bff=1 -pix_fmt yuv420p10le")),
    [](const auto& p) {
      const std::string codec = p.param.second;
      const char* name = codec.find("mpeg2") != std::string::npos    ? "mpeg2"
                         : codec.find("420p10") != std::string::npos ? "h264_10bit"
                                                                     : "h264";
      return std::string(name) + "_" + p.param.first;
    });

TEST(Progressive, UnlessForced_IsLeftAsItIs) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.2 -c:v ffv1 -pix_fmt yuv420p " + dir.file("a.mkv"));
  const std::string path = dir.file("a.mkv");
  EXPECT_EQ(record_with(path, Deinterlace::kAuto).all_bytes(), ffmpeg_raw("", path, ""));
  EXPECT_EQ(record_with(path, Deinterlace::kYes).all_bytes(),
            ffmpeg_raw("", path, "-vf bwdif=mode=send_frame:deint=all"));
  EXPECT_EQ(record_with(path, Deinterlace::kYes).shots.size(), 5U);
}

// An interlaced PNG (Adam7) has no fields: its rows arrive in another order.
TEST(Progressive, Adam7_IsNotTakenForFields) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.04 -c:v png -flags +ildct " + dir.file("a.png"));
  ASSERT_EQ(run("ffprobe -v error -show_entries frame=interlaced_frame -of default=nw=1:nk=1 " + dir.file("a.png")),
            "1\n");
  const Recording got = record_with(dir.file("a.png"), Deinterlace::kAuto);
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", dir.file("a.png"), "-pix_fmt rgba"));
  EXPECT_FALSE(got.info.deinterlaced);
}

// A progressive opening, then fields: the opening passes untouched, no frame is lost where it changes.
TEST(Progressive, BecomingInterlaced_IsDeinterlacedFromThere) {
  const TempDir dir;
  const std::string common = " -c:v mpeg2video -q:v 2 -flags +ildct+ilme";
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.4 -c:v mpeg2video -q:v 2 " + dir.file("a.ts"));
  make_interlaced(dir, "b.ts", "tff", common);
  ffmpeg("-i " + quoted("concat:" + dir.file("a.ts") + "|" + dir.file("b.ts")) + " -c copy " + dir.file("c.ts"));
  const std::string path = dir.file("c.ts");
  const Recording got = record_with(path, Deinterlace::kAuto);
  const Recording woven = record_with(path, Deinterlace::kNo);
  ASSERT_EQ(got.shots.size(), 20U);
  EXPECT_EQ(got.times_ns(), woven.times_ns());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(got.shots[i].bytes == woven.shots[i].bytes, i < 10) << "frame " << i;
}

}  // namespace
}  // namespace saccade::test
