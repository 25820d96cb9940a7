// Colours that are known, through every kind of pixel format; changes of size and format mid-stream; --vf.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "pipeline/error.h"
#include "tests/pipeline/source/support.h"

namespace saccade::test {
namespace {

// Flat colours in quarters: the same in every format that can hold them.
constexpr std::array<std::array<int, 3>, 4> kColors = {{{220, 40, 30}, {40, 190, 60}, {40, 60, 210}, {230, 220, 40}}};

// A clip of four flat quarters. `conversion` brings planar RGB to the format under test by zimg, which
// knows range and matrix.
std::string quarters(const TempDir& dir, const std::string& name, int width, int height, const std::string& conversion,
                     const std::string& codec) {
  std::string picture = "geq=";
  for (std::size_t c = 0; c < 3; ++c) {
    char plane[128];
    std::snprintf(plane, sizeof plane, "%c='if(lt(Y,H/2),if(lt(X,W/2),%d,%d),if(lt(X,W/2),%d,%d))'%s", "rgb"[c],
                  kColors[0][c], kColors[1][c], kColors[2][c], kColors[3][c], c < 2 ? ":" : "");
    picture += plane;
  }
  const std::string graph = "color=c=black:size=" + std::to_string(width) + "x" + std::to_string(height) +
                            ":rate=25:duration=0.12,format=gbrp," + picture + ",format=gbrp," + conversion;
  ffmpeg("-f lavfi -i " + quoted(graph) + " " + codec + " " + dir.file(name));
  return dir.file(name);
}

void expect_quarters(const Recording& got, double tolerance, bool gray = false) {
  ASSERT_FALSE(got.shots.empty());
  for (const Shot& shot : got.shots) {
    for (int i = 0; i < 4; ++i) {
      const int x = shot.view.width_px * (i % 2 == 0 ? 1 : 3) / 4, y = shot.view.height_px * (i < 2 ? 1 : 3) / 4;
      const std::array<double, 3> rgb = rgb_at(shot.view, x, y);
      const std::array<int, 3>& c = kColors[static_cast<std::size_t>(i)];
      const double luma = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(rgb[k], gray ? luma : c[k], tolerance) << "quarter " << i << " channel " << k;
    }
  }
}

struct Format {
  const char* name;
  const char* conversion;
  const char* codec;
  PixelLayout layout;
  int depth;
  double tolerance;
};

class Conversion : public testing::TestWithParam<Format> {};

TEST_P(Conversion, AnyFormat_KeepsItsColours) {
  const Format& f = GetParam();
  const TempDir dir;
  for (const auto& [width, height] : {std::pair(64, 48), std::pair(66, 50)}) {
    const std::string path =
        quarters(dir, std::string("a") + (std::string(f.codec).find("rawvideo") != std::string::npos ? ".nut" : ".mkv"),
                 width, height, f.conversion, f.codec);
    const Recording got = record(path);
    EXPECT_EQ(got.info.layout, f.layout);
    EXPECT_EQ(got.info.color.depth_bits, f.depth);
    expect_quarters(got, f.tolerance, std::string(f.name).find("gray") == 0);
  }
}

#define ZIMG(matrix, range, format) "zscale=m=" matrix ":r=" range ",format=" format

INSTANTIATE_TEST_SUITE_P(
    All, Conversion,
    testing::Values(Format{"420_601_tv", ZIMG("170m", "tv", "yuv420p"),
                           "-c:v ffv1 -colorspace smpte170m -color_range tv", PixelLayout::kI420, 8, 3},
                    Format{"420_709_pc", ZIMG("709", "pc", "yuv420p"), "-c:v ffv1 -colorspace bt709 -color_range pc",
                           PixelLayout::kI420, 8, 3},
                    Format{"420p10_2020_tv", ZIMG("2020_ncl", "tv", "yuv420p10"),
                           "-c:v ffv1 -colorspace bt2020nc -color_range tv", PixelLayout::kI420p16, 10, 1},
                    Format{"420p10_709_pc", ZIMG("709", "pc", "yuv420p10"),
                           "-c:v ffv1 -colorspace bt709 -color_range pc", PixelLayout::kI420p16, 10, 1},
                    Format{"422_709_tv", ZIMG("709", "tv", "yuv422p"), "-c:v ffv1 -colorspace bt709 -color_range tv",
                           PixelLayout::kI420, 8, 3},
                    Format{"422_709_pc", ZIMG("709", "pc", "yuv422p"), "-c:v ffv1 -colorspace bt709 -color_range pc",
                           PixelLayout::kI420, 8, 3},
                    Format{"422p10_709_pc", ZIMG("709", "pc", "yuv422p10"),
                           "-c:v ffv1 -colorspace bt709 -color_range pc", PixelLayout::kI420p16, 10, 1},
                    Format{"440_709_tv", ZIMG("709", "tv", "yuv440p"), "-c:v ffv1 -colorspace bt709 -color_range tv",
                           PixelLayout::kI420, 8, 3},
                    Format{"444_709_tv", ZIMG("709", "tv", "yuv444p"), "-c:v ffv1 -colorspace bt709 -color_range tv",
                           PixelLayout::kRgba8, 8, 3},
                    Format{"444_240m_pc", ZIMG("7", "pc", "yuv444p"), "-c:v ffv1 -colorspace smpte240m -color_range pc",
                           PixelLayout::kRgba8, 8, 3},
                    Format{"444p12_2020_pc", ZIMG("2020_ncl", "pc", "yuv444p12"),
                           "-c:v ffv1 -colorspace bt2020nc -color_range pc", PixelLayout::kI420p16, 12, 1},
                    Format{"uyvy_601_tv", ZIMG("170m", "tv", "yuv422p") ",format=uyvy422", "-c:v rawvideo",
                           PixelLayout::kI420, 8, 3},
                    Format{"gray_pc", "scale=in_range=pc:out_range=pc,format=gray", "-c:v ffv1 -color_range pc",
                           PixelLayout::kI420, 8, 2},
                    Format{"gray16_pc", "scale=in_range=pc:out_range=pc,format=gray16le", "-c:v ffv1 -color_range pc",
                           PixelLayout::kI420p16, 16, 2},
                    Format{"gbrp", "null", "-c:v ffv1", PixelLayout::kRgba8, 8, 0},
                    Format{"rgb24", "format=rgb24", "-c:v rawvideo", PixelLayout::kRgba8, 8, 0},
                    Format{"bgr0", "format=bgr0", "-c:v ffv1", PixelLayout::kRgba8, 8, 0},
                    Format{"gbrp10", "format=gbrp10le", "-c:v ffv1", PixelLayout::kRgba8, 8, 1},
                    Format{"pal8", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-c:v png",
                           PixelLayout::kRgba8, 8, 2}),
    [](const testing::TestParamInfo<Format>& f) { return std::string(f.param.name); });

// Made even, because zimg takes no odd sizes, and cropped.
TEST(Conversion, OddSize_KeepsItsColours) {
  const TempDir dir;
  const std::string tags = "-c:v ffv1 -colorspace bt709 -color_range ";
  const std::string crop = ",crop=65:49:0:0:exact=1";
  expect_quarters(record(quarters(dir, "a.mkv", 66, 50, ZIMG("709", "tv", "yuv422p") + crop, tags + "tv")), 3);
  expect_quarters(record(quarters(dir, "b.mkv", 66, 50, ZIMG("709", "pc", "yuv444p") + crop, tags + "pc")), 3);
  expect_quarters(record(quarters(dir, "c.mkv", 66, 50, ZIMG("709", "tv", "yuv444p10") + crop, tags + "tv")), 3);
  expect_quarters(record(quarters(dir, "d.mkv", 66, 50, ZIMG("709", "pc", "yuv444p10") + crop, tags + "pc")), 3);
}

TEST(Conversion, Alpha_IsCompositedOverBlack) {
  const TempDir dir;
  ffmpeg("-f lavfi -i color=c=0xc86432@0.5:size=64x48:rate=25:duration=0.12,format=rgba -c:v png " + dir.file("a.mov"));
  const Recording got = record(dir.file("a.mov"));
  const std::array<double, 3> rgb = rgb_at(got.shots[0].view, 10, 10);
  const double alpha = 127.0 / 255.0;
  EXPECT_NEAR(rgb[0], 200 * alpha, 1);
  EXPECT_NEAR(rgb[1], 100 * alpha, 1);
  EXPECT_NEAR(rgb[2], 50 * alpha, 1);
  EXPECT_EQ(got.shots[0].bytes[3], 255);
  EXPECT_EQ(got.info.notes.front(), "alpha is composited over black");
}

// Two recordings of different size and format, glued.
std::string glued(const TempDir& dir) {
  ffmpeg("-f lavfi -i testsrc2=size=160x120:rate=25:duration=0.4 -c:v libx264 -pix_fmt yuv420p " + dir.file("1.ts"));
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.4 -c:v libx264 -pix_fmt yuv422p -output_ts_offset 0.4 " +
         dir.file("2.ts"));
  run("cat " + dir.file("1.ts") + " " + dir.file("2.ts") + " > " + dir.file("glued.ts"));
  return dir.file("glued.ts");
}

TEST(FormatChange, Default_ScalesToTheFirstFormat) {
  const TempDir dir;
  const Recording got = record(glued(dir));
  ASSERT_EQ(got.shots.size(), 20U);
  EXPECT_EQ(got.counters.format_changes, 1);
  for (const Shot& shot : got.shots) {
    EXPECT_EQ(shot.view.width_px, 160);
    EXPECT_EQ(shot.view.height_px, 120);
    EXPECT_EQ(shot.view.layout, PixelLayout::kI420);
  }
  EXPECT_NEAR(got.shots[15].view.sar, (96.0 / 64.0) / (160.0 / 120.0), 1e-5)
      << "scaled to another shape, seen the same";
}

// Nothing else changes, so nothing is scaled.
TEST(FormatChange, PixelShapeAlone_IsCountedAndPassedOn) {
  const TempDir dir;
  for (const auto& [name, sar, offset] : {std::tuple{"1.ts", "1/1", "0"}, std::tuple{"2.ts", "2/1", "0.4"}}) {
    ffmpeg(
        fmt::format("-f lavfi -i testsrc2=size=160x120:rate=25:duration=0.4,setsar={} -c:v libx264 -pix_fmt yuv420p "
                    "-output_ts_offset {} {}",
                    sar, offset, dir.file(name)));
  }
  run("cat " + dir.file("1.ts") + " " + dir.file("2.ts") + " > " + dir.file("glued.ts"));
  const Recording got = record(dir.file("glued.ts"));
  ASSERT_EQ(got.shots.size(), 20U);
  EXPECT_EQ(got.counters.format_changes, 1);
  EXPECT_FLOAT_EQ(got.shots[9].view.sar, 1);
  EXPECT_FLOAT_EQ(got.shots[10].view.sar, 2);
}

TEST(FormatChange, FirstFormatNotKept_IsPassedOn) {
  const TempDir dir;
  SourceConfig config;
  config.uri = glued(dir);
  config.keep_first_format = false;
  const Recording got = record(config);
  ASSERT_EQ(got.shots.size(), 20U);
  EXPECT_EQ(got.shots[9].view.width_px, 160);
  EXPECT_EQ(got.shots[10].view.width_px, 96);
  EXPECT_EQ(got.counters.format_changes, 1);
}

TEST(UserFilters, Given_ApplyAsFfmpegDoes) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -c:v libx264 -pix_fmt yuv420p " + dir.file("a.mkv"));
  SourceConfig config;
  config.uri = dir.file("a.mkv");
  config.filters = "crop=32:24:8:8,hflip";
  const Recording got = record(config);
  EXPECT_EQ(got.all_bytes(), ffmpeg_raw("", config.uri, "-vf crop=32:24:8:8,hflip -pix_fmt yuv420p"));
  EXPECT_EQ(got.times_ns().size(), 10U);
  config.filters = "fps=50";
  const std::vector<std::int64_t> times = record(config).times_ns();
  ASSERT_EQ(times.size(), 20U);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], static_cast<std::int64_t>(i) * 20000000);
  config.filters = "setpts=7/(25*TB)";  // every frame at the same time: given out, they rise by a frame
  const Recording still = record(config);
  ASSERT_EQ(still.shots.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(still.shots[i].view.pts_ns, 280000000 + static_cast<std::int64_t>(i) * 40000000);
  }
  EXPECT_EQ(still.counters.pts_not_rising, 9);
  config.filters = "select=0";
  try {
    record(config);
    ADD_FAILURE() << "no frame came through, and no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("vf 'select=0': the filters let no frame through"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.hint(), Hint::kCheckFilters);
  }
}

TEST(UserFilters, ChangeOfSize_IsFollowed) {
  const TempDir dir;
  SourceConfig config;
  config.uri = glued(dir);
  config.filters = "hflip,tmix=frames=2";
  EXPECT_EQ(record(config).shots.size(), 20U);
}

TEST(Source, FileCutShort_EndsAndTellsTruncation) {
  const TempDir dir;
  ffmpeg("-f lavfi -i testsrc2=size=160x120:rate=25:duration=2 -c:v libx264 -g 10 -movflags +faststart " +
         dir.file("a.mp4"));
  const std::string cut = "head -c $(( $(stat -c %s " + dir.file("a.mp4") + ") * 6 / 10 )) ";
  run(cut + dir.file("a.mp4") + " > " + dir.file("cut.mp4"));
  const Recording mp4 = record(dir.file("cut.mp4"));
  EXPECT_EQ(mp4.status, ReadStatus::kEnd);
  EXPECT_GT(mp4.shots.size(), 5U);
  EXPECT_LT(mp4.shots.size(), 50U);
  EXPECT_TRUE(mp4.counters.truncated);
  ffmpeg("-i " + dir.file("a.mp4") + " -c copy " + dir.file("a.mkv"));
  run(cut + dir.file("a.mkv") + " > " + dir.file("cut.mkv"));
  EXPECT_TRUE(record(dir.file("cut.mkv")).counters.truncated);
  EXPECT_FALSE(record(dir.file("a.mp4")).counters.truncated);
  EXPECT_FALSE(record(dir.file("a.mkv")).counters.truncated);
}

}  // namespace
}  // namespace saccade::test
