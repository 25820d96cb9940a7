// Pictures against ffmpeg's own: bit for bit where nothing is converted, and upright where the
// display matrix rotates them.
#include <gtest/gtest.h>

#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

// Codec options, the raw format ffmpeg writes for the comparison, and the layout that must come out.
struct Straight {
  const char* size;
  const char* options;
  const char* pix_fmt;
  PixelLayout layout;
  int depth;
};

class StraightThrough : public testing::TestWithParam<Straight> {};

TEST_P(StraightThrough, AnyFormat_IsBitExact) {
  const Straight& p = GetParam();
  const TempDir dir;
  const std::string path = dir.file("a.mkv");
  ffmpeg(std::string("-f lavfi -i testsrc2=size=") + p.size + ":rate=25:duration=0.4 " + p.options + " " + path);
  const Recording got = record(path);
  ASSERT_EQ(got.shots.size(), 10U);
  EXPECT_EQ(got.info.layout, p.layout);
  EXPECT_EQ(got.info.color.depth_bits, p.depth);
  EXPECT_TRUE(got.info.filters.empty()) << got.info.filters;
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", path, std::string("-pix_fmt ") + p.pix_fmt));
}

INSTANTIATE_TEST_SUITE_P(
    Formats, StraightThrough,
    testing::Values(Straight{"160x120", "-c:v libx264 -pix_fmt yuv420p", "yuv420p", PixelLayout::kI420, 8},
                    Straight{"161x121", "-c:v libvpx-vp9 -pix_fmt yuv420p", "yuv420p", PixelLayout::kI420, 8},
                    Straight{"2x2", "-vf crop=1:1:0:0:exact=1 -c:v ffv1 -pix_fmt yuv420p", "yuv420p",
                             PixelLayout::kI420, 8},
                    Straight{"64x48", "-c:v mjpeg -pix_fmt yuvj420p", "yuvj420p", PixelLayout::kI420, 8},
                    Straight{"64x48", "-c:v rawvideo -pix_fmt nv12", "nv12", PixelLayout::kNv12, 8},
                    Straight{"64x48", "-c:v ffv1 -pix_fmt yuv420p10le", "yuv420p10le", PixelLayout::kI420p16, 10},
                    Straight{"65x49", "-c:v ffv1 -pix_fmt yuv420p12le", "yuv420p12le", PixelLayout::kI420p16, 12},
                    Straight{"64x48", "-c:v ffv1 -pix_fmt yuv420p16le", "yuv420p16le", PixelLayout::kI420p16, 16}),
    [](const auto& p) { return test_name(std::string(p.param.size) + "_" + p.param.pix_fmt); });

TEST(Source, AnyNumberOfThreads_GivesTheSamePictures) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25:duration=1.5 -c:v libx264 -bf 3 " + dir.file("a.mp4"));
  SourceConfig config;
  config.uri = dir.file("a.mp4");
  config.threads = 1;
  const std::vector<std::uint8_t> one = record(config).all_bytes();
  for (const int threads : {2, 5, 0}) {
    config.threads = threads;
    EXPECT_EQ(record(config).all_bytes(), one) << threads << " threads";
  }
}

// The eight display matrices that are multiples of 90 degrees, mirrored or not: a, b, c, d, and what they amount to.
struct Rotation {
  int a, b, c, d;
  int rotation_deg;
  bool mirrored;
  const char* filters;  // ffmpeg's, written down from the matrix by hand
};

class DisplayMatrix : public testing::TestWithParam<Rotation> {};

void put_be32(std::vector<char>& bytes, std::size_t at, int value) {
  const auto v = static_cast<std::uint32_t>(value);
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(v >> (24 - 8 * i) & 0xff);
}

// Writes the matrix into the track header (tkhd, version 0: the matrix is 40 bytes after the version byte).
void patch_matrix(const std::string& path, const Rotation& rotation) {
  std::string data = run("cat " + quoted(path));
  std::vector<char> bytes(data.begin(), data.end());
  const std::size_t at = data.find("tkhd");
  ASSERT_NE(at, std::string::npos);
  const std::size_t matrix = at + 4 + 40;
  const int values[9] = {rotation.a << 16, rotation.b << 16, 0, rotation.c << 16, rotation.d << 16, 0, 0, 0, 1 << 30};
  for (std::size_t i = 0; i < 9; ++i) put_be32(bytes, matrix + 4 * i, values[i]);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
}

TEST_P(DisplayMatrix, RightAngle_IsApplied) {
  const Rotation& rotation = GetParam();
  const TempDir dir;
  for (const char* format : {"yuv420p", "yuv420p10le"}) {
    const std::string path = dir.file(std::string(format) + ".mov");
    ffmpeg(std::string("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -pix_fmt ") + format +
           " -c:v libx264 -qp 4 " + path);
    patch_matrix(path, rotation);
    const Recording got = record(path);
    ASSERT_EQ(got.shots.size(), 5U);
    EXPECT_EQ(got.info.rotation_deg, rotation.rotation_deg);
    EXPECT_EQ(got.info.mirrored, rotation.mirrored);
    const bool swapped = rotation.a == 0;
    EXPECT_EQ(got.info.width_px, swapped ? 48 : 64);
    const std::string filters = *rotation.filters != 0 ? std::string("-vf ") + rotation.filters + " " : "";
    EXPECT_EQ(got.all_bytes(), ffmpeg_raw("-noautorotate", path, filters + "-pix_fmt " + format)) << format;
  }
  SourceConfig twice;  // a second play reopens the file, and what its header asks for holds again
  twice.uri = dir.file("yuv420p.mov");
  twice.loops = 1;
  const std::vector<std::uint8_t> once = record(twice.uri).all_bytes();
  std::vector<std::uint8_t> both = once;
  both.insert(both.end(), once.begin(), once.end());
  EXPECT_EQ(record(twice).all_bytes(), both);
  SourceConfig config;  // semi-planar pictures are rotated as well
  config.uri = dir.file("yuv420p.mov");
  config.filters = "format=nv12";
  const std::string chain = *rotation.filters != 0 ? std::string(",") + rotation.filters : "";
  EXPECT_EQ(record(config).all_bytes(),
            ffmpeg_raw("-noautorotate", config.uri, "-vf format=nv12" + chain + " -pix_fmt nv12"));
}

INSTANTIATE_TEST_SUITE_P(
    Quarter, DisplayMatrix,
    testing::Values(Rotation{1, 0, 0, 1, 0, false, ""}, Rotation{0, 1, -1, 0, 90, false, "transpose=clock"},
                    Rotation{-1, 0, 0, -1, 180, false, "hflip,vflip"},
                    Rotation{0, -1, 1, 0, 270, false, "transpose=cclock"}, Rotation{-1, 0, 0, 1, 0, true, "hflip"},
                    Rotation{1, 0, 0, -1, 180, true, "vflip"}, Rotation{0, 1, 1, 0, 90, true, "transpose=cclock_flip"},
                    Rotation{0, -1, -1, 0, 270, true, "transpose=clock_flip"}),
    [](const auto& rotation) {
      return std::to_string(rotation.param.rotation_deg) + (rotation.param.mirrored ? "_mirrored" : "");
    });

TEST(DisplayMatrix, RightAngle_MovesTheChromaSite) {
  const TempDir dir;
  const auto color = [&](int a, int b, int c, int d) {
    ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.1 -pix_fmt yuv420p -c:v libx264 " + dir.file("a.mov"));
    patch_matrix(dir.file("a.mov"), {a, b, c, d, 0, false, ""});
    return record(dir.file("a.mov")).info.color;
  };
  EXPECT_EQ(color(1, 0, 0, 1).site_shift_x, 0.25f);
  EXPECT_EQ(color(-1, 0, 0, 1).site_shift_x, -0.25f);  // mirrored: on the right
  const ColorSpec rotated = color(0, 1, -1, 0);        // clockwise: the left side becomes the top
  EXPECT_EQ(rotated.site_shift_x, 0.0f);
  EXPECT_EQ(rotated.site_shift_y, 0.25f);
}

TEST(DisplayMatrix, OddAngleOrZeros_IsLeftOutAndTold) {
  const TempDir dir;
  for (const bool zero : {false, true}) {
    ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.1 -pix_fmt yuv420p -c:v libx264 " + dir.file("a.mov"));
    patch_matrix(dir.file("a.mov"), zero ? Rotation{0, 0, 0, 0, 0, false, ""} : Rotation{1, 1, -1, 1, 0, false, ""});
    const Recording got = record(dir.file("a.mov"));
    EXPECT_EQ(got.info.rotation_deg, 0);
    EXPECT_EQ(got.info.width_px, 64);
    ASSERT_FALSE(got.info.notes.empty());
    EXPECT_NE(got.info.notes.back().find("not rotated"), std::string::npos) << got.info.notes.back();
  }
}

TEST(DisplayMatrix, OblongPixels_AreRotatedToo) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.1,setsar=4/3 -pix_fmt yuv420p -c:v libx264 " +
         dir.file("a.mov"));
  EXPECT_NEAR(record(dir.file("a.mov")).info.sar, 4.0 / 3.0, 1e-6);
  patch_matrix(dir.file("a.mov"), {0, 1, -1, 0, 90, false, ""});
  EXPECT_NEAR(record(dir.file("a.mov")).info.sar, 3.0 / 4.0, 1e-6);
}

}  // namespace
}  // namespace saccade::test
