// PQ and HLG in every kind of samples against ffmpeg's zscale and tonemap; wide gamuts that stay as they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

extern "C" {
#include <libavutil/bswap.h>
#include <libavutil/crc.h>
}

namespace saccade::test {
namespace {

constexpr const char* kPq = "smpte2084";
constexpr const char* kHlg = "arib-std-b67";

// A picture that ramps red across, green down and blue back, tagged with `transfer` and BT.2020 unless `tags` differ.
// RGB, or YUV of BT.2020 where `format` is.
std::string ramps(const TempDir& dir, const std::string& name, const std::string& format, const std::string& codec,
                  const std::string& transfer, const std::string& primaries = "bt2020") {
  const bool subsampled = format.find("420") != std::string::npos;  // zimg takes none of odd size
  const bool yuv = format.starts_with("yuv");
  const std::string graph = fmt::format("nullsrc=s={}:r=25:d=0.04,format=gbrap16,", subsampled ? "64x48" : "65x49") +
                            "geq=r='X/W*65535':g='Y/H*65535':b='65535-X/W*65535':a='16384+Y/H*49151',format=gbrap16," +
                            std::string(yuv ? "zscale=m=2020_ncl:r=tv," : "") + "format=" + format;
  ffmpeg(fmt::format("-f lavfi -i {} -frames:v 1 {} -color_trc {} -color_primaries {} -colorspace {} {}", quoted(graph),
                     codec, transfer, primaries, yuv ? "bt2020nc -color_range tv" : "rgb", dir.file(name)));
  return dir.file(name);
}

// Linear light at 100 cd/m2, BT.709's primaries, Hable's curve, BT.709's transfer, by ffmpeg: RGBA.
std::vector<std::uint8_t> tone_mapped(const std::string& path, bool alpha, const std::string& in) {
  const std::string graph = fmt::format(
      "zscale={}:t=linear:npl=100,format={a}f32le,zscale=pin=2020:p=709,tonemap=hable:desat=0,"
      "zscale=t=709:m=gbr:r=pc,format={a}",
      in, fmt::arg("a", alpha ? "gbrap" : "gbrp"));
  return ffmpeg_raw("", path, "-vf " + quoted(graph) + " -pix_fmt rgba");
}

// The largest difference of a colour, once alpha has been composited over black.
double worst_difference(const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& wanted) {
  double worst = got.size() == wanted.size() ? 0 : 255;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    if (i % 4 == 3) continue;
    const double color = wanted[i] * wanted[i / 4 * 4 + 3] / 255.0;
    worst = std::max(worst, std::abs(got[i] - color));
  }
  return worst;
}

// A PNG or APNG with a chunk cICP: BT.2020, this transfer, RGB of the full range (PNG, third edition, 11.3.2.6).
void write_cicp(const std::string& path, std::uint8_t transfer) {
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  in.close();
  std::string chunk = "cICP\x09";
  chunk += {static_cast<char>(transfer), '\0', '\x01'};
  const auto crc = av_bswap32(av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xffffffff,
                                     reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size()) ^
                              0xffffffff);
  std::string end(4, '\0');
  std::memcpy(end.data(), &crc, 4);
  constexpr std::size_t kAfterHeader = 8 + 25;
  file.insert(kAfterHeader, std::string("\0\0\0\x04", 4) + chunk + end);
  std::ofstream(path, std::ios::binary) << file;
}

bool mentions(const StreamInfo& info, const std::string& word) {
  return std::any_of(info.notes.begin(), info.notes.end(),
                     [&](const std::string& note) { return note.find(word) != std::string::npos; });
}

TEST(HdrPng, Cicp_IsToneMappedAsFfmpegDoes) {
  constexpr std::uint8_t kCodePq = 16, kCodeHlg = 18;  // ITU-T H.273, table 3
  for (const auto& [name, codec] : {std::pair("still.png", "-c:v png"), {"moving.png", "-f apng"}}) {
    for (const auto& [transfer, code] : {std::pair(kPq, kCodePq), {kHlg, kCodeHlg}}) {
      const TempDir dir;
      const std::string path = ramps(dir, name, "rgb48be", codec, "unknown", "unknown");
      const std::string same = ramps(dir, "same.mkv", "rgb48be", "-c:v png", transfer);
      const std::vector<std::uint8_t> wanted = tone_mapped(same, false, "min=gbr:rin=pc");
      write_cicp(path, code);
      const Recording got = record(path);
      EXPECT_LE(worst_difference(got.all_bytes(), wanted), 2) << name << " " << transfer;
      EXPECT_TRUE(mentions(got.info, "tone-mapped")) << name << " " << transfer;
    }
  }
}

struct Hdr {
  const char* file;
  const char* format;
  const char* codec;
  const char* transfer = kPq;
};

class HdrRgb : public testing::TestWithParam<Hdr> {};

TEST_P(HdrRgb, AnyFormat_IsToneMappedAsFfmpegDoes) {
  const Hdr& p = GetParam();
  const TempDir dir;
  const std::string path = ramps(dir, p.file, p.format, p.codec, p.transfer);
  const Recording got = record(path);
  ASSERT_EQ(got.shots.size(), 1U);
  ASSERT_EQ(got.info.layout, PixelLayout::kRgba8);
  const bool alpha = mentions(got.info, "over black");
  EXPECT_EQ(alpha, std::string(p.format).find('a') != std::string::npos);
  EXPECT_LE(worst_difference(got.all_bytes(), tone_mapped(path, alpha, "min=gbr:rin=pc")), 2) << got.info.filters;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, HdrRgb,
    testing::Values(Hdr{"8.mkv", "bgr0", "-c:v ffv1"}, Hdr{"10.mkv", "gbrp10le", "-c:v ffv1"},
                    Hdr{"12.mkv", "gbrp12le", "-c:v ffv1"}, Hdr{"16.mkv", "gbrp16le", "-c:v ffv1"},
                    Hdr{"a8.mkv", "bgra", "-c:v ffv1"}, Hdr{"a10.mkv", "gbrap10le", "-c:v ffv1"},
                    Hdr{"a12.mkv", "gbrap12le", "-c:v ffv1"}, Hdr{"a16.mkv", "gbrap16le", "-c:v ffv1"},
                    Hdr{"24.mov", "rgb24", "-c:v png"}, Hdr{"48.mov", "rgb48be", "-c:v png"},
                    Hdr{"64.mov", "rgba64be", "-c:v png"},
                    Hdr{"hevc.mp4", "gbrp10le", "-c:v libx265 -x265-params lossless=1:log-level=none"},
                    Hdr{"avc.mp4", "rgb24", "-c:v libx264rgb -qp 0"}, Hdr{"hlg.mkv", "gbrp10le", "-c:v ffv1", kHlg},
                    Hdr{"hlg_a.mkv", "gbrap16le", "-c:v ffv1", kHlg}),
    [](const auto& p) { return test_name(std::string(p.param.file) + "_" + p.param.format); });

// YUV has done so all along; with alpha it lost that.
TEST(HdrYuv, Alpha_IsCompositedAfterToneMapping) {
  const TempDir dir;
  const std::string path = ramps(dir, "a.mkv", "yuva444p10le", "-c:v ffv1", kPq);
  const Recording got = record(path);
  ASSERT_EQ(got.info.layout, PixelLayout::kRgba8);
  EXPECT_LE(worst_difference(got.all_bytes(), tone_mapped(path, true, "min=2020_ncl:rin=tv")), 2);
}

// BT.2100 knows no other primaries.
TEST(Hdr, WithoutPrimaries_HasThoseOfBt2020) {
  const TempDir dir;
  for (const char* format : {"gbrp10le", "yuv444p10le"}) {
    const std::string name = std::string(format) + ".mkv";
    const Recording tagged = record(ramps(dir, "tagged-" + name, format, "-c:v ffv1", kPq));
    const Recording bare = record(ramps(dir, "bare-" + name, format, "-c:v ffv1", kPq, "unknown"));
    EXPECT_EQ(bare.info.filters, tagged.info.filters);
    EXPECT_EQ(bare.all_bytes(), tagged.all_bytes()) << format;
  }
}

// The bytes are those of the same picture with BT.709's tag; only the note differs.
TEST(WideGamut, OfSdr_StaysWithANote) {
  const TempDir dir;
  for (const std::string format : {"gbrp", "gbrp10le", "yuv420p10le", "yuv444p"}) {
    const Recording narrow = record(ramps(dir, "709-" + format + ".mkv", format, "-c:v ffv1", "bt709", "bt709"));
    EXPECT_FALSE(mentions(narrow.info, "primaries"));
    for (const auto& [primaries, name] : {std::pair("bt2020", "BT.2020"), {"smpte431", "P3"}, {"smpte432", "P3"}}) {
      const std::string file = format + primaries + std::string(".mkv");
      const Recording wide = record(ramps(dir, file, format, "-c:v ffv1", "bt709", primaries));
      EXPECT_TRUE(mentions(wide.info, std::string("SDR with the primaries of ") + name)) << file;
      EXPECT_EQ(wide.all_bytes(), narrow.all_bytes()) << file;
    }
    EXPECT_FALSE(mentions(record(ramps(dir, "pq-" + format + ".mkv", format, "-c:v ffv1", kPq)).info, "SDR with"));
  }
}

// What the note advises: with a transfer that is tagged, and without.
TEST(WideGamut, FilterOfTheNote_ConvertsThem) {
  const TempDir dir;
  for (const auto& [transfer, filter] :
       {std::pair("bt709", "zscale=p=bt709"), {"unknown", "zscale=tin=bt709:t=bt709:p=bt709"}}) {
    SourceConfig config;
    config.uri = ramps(dir, std::string(transfer) + ".mkv", "gbrp16le", "-c:v ffv1", transfer);
    EXPECT_TRUE(mentions(record(config).info, std::string("the filter ") + filter + " converts"));
    config.filters = filter;
    const Recording got = record(config);
    EXPECT_FALSE(mentions(got.info, "primaries"));
    const auto wanted = ffmpeg_raw("", config.uri,
                                   "-vf zscale=min=gbr:rin=pc:tin=709:pin=2020:t=709:p=709:m=gbr:r=pc,format=gbrp "
                                   "-pix_fmt rgba");
    EXPECT_LE(worst_difference(got.all_bytes(), wanted), 1) << transfer;
  }
}

}  // namespace
}  // namespace saccade::test
