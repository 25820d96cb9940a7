// Containers that call other packets key frames than are some: --start and seeks give the pictures of a whole run.
#include <gtest/gtest.h>

#include <stdexcept>

#include "pipeline/source/ffmpeg/av.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

void check(int code) {
  if (code < 0) throw std::runtime_error(av_error_text(code));
}

enum class Flagged { kAll, kSome, kNone };

// The same packets in another file, flagged otherwise.
void remux(const std::string& from, const std::string& to, Flagged flagged, const char* movflags) {
  AVFormatContext* raw = nullptr;
  check(avformat_open_input(&raw, from.c_str(), nullptr, nullptr));
  const FormatContextPtr in(raw);
  check(avformat_find_stream_info(in.get(), nullptr));
  AVFormatContext* out = nullptr;
  check(avformat_alloc_output_context2(&out, nullptr, nullptr, to.c_str()));
  AVStream* stream = avformat_new_stream(out, nullptr);
  check(avcodec_parameters_copy(stream->codecpar, in->streams[0]->codecpar));
  stream->codecpar->codec_tag = 0;
  stream->time_base = in->streams[0]->time_base;
  stream->avg_frame_rate = stream->r_frame_rate = in->streams[0]->avg_frame_rate;
  check(avio_open(&out->pb, to.c_str(), AVIO_FLAG_WRITE));
  Dictionary options;
  if (*movflags != '\0') options.set("movflags", movflags);
  check(avformat_write_header(out, options.get()));
  const PacketPtr packet(av_packet_alloc());
  for (int i = 0; av_read_frame(in.get(), packet.get()) >= 0; ++i) {
    const bool flag = flagged == Flagged::kAll || (flagged == Flagged::kSome && i % 7 == 0);
    packet->flags = flag ? packet->flags | AV_PKT_FLAG_KEY : packet->flags & ~AV_PKT_FLAG_KEY;
    av_packet_rescale_ts(packet.get(), in->streams[0]->time_base, stream->time_base);
    check(av_interleaved_write_frame(out, packet.get()));
  }
  check(av_write_trailer(out));
  avio_closep(&out->pb);
  avformat_free_context(out);
}

struct Clip {
  const char* name;
  const char* codec;
  const char* movflags = "";
  const char* made_as = "nut";
  const char* size = "96x64";
};

class KeyFlags : public testing::TestWithParam<Clip> {
 protected:
  // Four seconds in which every part of the picture changes all the time.
  void SetUp() override {
    const Clip& clip = GetParam();
    right_ = dir_.file(std::string("right.") + clip.made_as);
    ffmpeg("-f lavfi -i testsrc2=size=" + std::string(clip.size) + ":rate=25:duration=4 " + clip.codec + " " + right_);
    config_.uri = dir_.file(clip.name);
  }

  void flag(Flagged flagged) {
    remux(right_, config_.uri, flagged, GetParam().movflags);
    whole_ = record(config_);
    ASSERT_EQ(whole_.shots.size(), 100U);
  }

  const TempDir dir_;
  std::string right_;
  SourceConfig config_;
  Recording whole_;
};

TEST_P(KeyFlags, Wrong_StartGivesThePicturesOfTheWhole) {
  flag(Flagged::kAll);
  if (whole_.info.filters.empty() && whole_.info.pixel_format == "yuv420p") {
    EXPECT_EQ(whole_.all_bytes(), ffmpeg_raw("", config_.uri, ""));
  }
  expect_starts(config_, whole_, {3, 13, 37, 50, 76, 97});
  flag(Flagged::kSome);
  expect_starts(config_, whole_, {13, 62});
  flag(Flagged::kNone);
  expect_starts(config_, whole_, {37});
}

TEST_P(KeyFlags, Wrong_SeekGivesThePicturesOfTheWhole) {
  flag(Flagged::kAll);
  expect_seeks(config_, whole_, {60, 30, 95, 0, 52});
}

#define X264 "-pix_fmt yuv420p -c:v libx264 -preset veryfast -qp 20 "
#define X265 "-pix_fmt yuv420p -c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=25:bframes=3"
#define FRAGMENTS "frag_keyframe+empty_moov+default_base_moof"
INSTANTIATE_TEST_SUITE_P(
    Clips, KeyFlags,
    testing::Values(
        Clip{"h264.mp4", X264 "-g 25 -bf 2", "", "mp4"}, Clip{"h264_frag.mp4", X264 "-g 25 -bf 2", FRAGMENTS, "mp4"},
        Clip{"h264.mkv", X264 "-g 25 -bf 2", "", "mp4"}, Clip{"h264.flv", X264 "-g 25 -bf 2", "", "mp4"},
        Clip{"h264.avi", X264 "-g 25 -bf 0", "", "h264"},
        Clip{"h264_open.mkv", X264 "-g 25 -bf 3 -x264-params open-gop=1", "", "mp4"},
        Clip{"h264_refresh.mkv", X264 "-x264-params intra-refresh=1:keyint=12:scenecut=0", "", "mp4"},
        Clip{"h264_refresh.mp4", X264 "-x264-params intra-refresh=1:keyint=20:scenecut=0", FRAGMENTS, "mp4"},
        Clip{"h265.mp4", X265, FRAGMENTS, "mp4"}, Clip{"h265.mkv", X265, "", "mp4"},
        Clip{"mpeg2.mkv", "-c:v mpeg2video -g 25 -bf 2"}, Clip{"mpeg1.avi", "-c:v mpeg1video -g 25 -bf 0"},
        Clip{"mpeg4.mp4", "-c:v mpeg4 -g 25 -bf 2", FRAGMENTS, "mp4"}, Clip{"mpeg4.avi", "-c:v mpeg4 -g 25 -bf 2"},
        Clip{"msmpeg4v3.avi", "-c:v msmpeg4 -g 25"}, Clip{"msmpeg4v2.avi", "-c:v msmpeg4v2 -g 25"},
        Clip{"msmpeg4v3.wmv", "-c:v msmpeg4 -g 25"}, Clip{"wmv1.wmv", "-c:v wmv1 -g 25"},
        Clip{"wmv2.wmv", "-c:v wmv2 -g 25"}, Clip{"wmv2.avi", "-c:v wmv2 -g 25"},
        Clip{"h263.3gp", "-c:v h263 -g 25", "", "nut", "128x96"}, Clip{"h263p.avi", "-c:v h263p -g 25"},
        Clip{"flv1.flv", "-c:v flv1 -g 25"}, Clip{"vp8.mkv", "-c:v libvpx -deadline realtime -g 25"},
        Clip{"vp9.mkv", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 25"},
        Clip{"vp9.mp4", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 25", FRAGMENTS, "webm"},
        Clip{"av1.mkv", "-c:v libaom-av1 -cpu-used 8 -usage realtime -g 25", "", "mp4"},
        Clip{"theora.mkv", "-c:v libtheora -g 25", "", "mkv"}, Clip{"svq1.mov", "-c:v svq1 -g 25"},
        Clip{"ffv1.mkv", "-c:v ffv1 -level 1 -g 25"}, Clip{"ffv1.avi", "-c:v ffv1 -level 3 -g 25"},
        Clip{"zmbv.avi", "-c:v zmbv -g 25"}, Clip{"snow.avi", "-c:v snow -strict -2 -g 25"},
        Clip{"cinepak.avi", "-c:v cinepak -g 25"}, Clip{"msvideo1.avi", "-c:v msvideo1 -g 25"},
        Clip{"qtrle.mov", "-c:v qtrle -g 25", "", "mov"}, Clip{"flashsv.flv", "-c:v flashsv -g 25"},
        Clip{"mjpeg.avi", "-c:v mjpeg"}, Clip{"prores.mov", "-c:v prores"}, Clip{"huffyuv.avi", "-c:v huffyuv"},
        Clip{"dv.avi", "-c:v dvvideo -pix_fmt yuv420p", "", "nut", "720x576"}, Clip{"png.mov", "-c:v png"}),
    [](const auto& clip) { return test_name(clip.param.name); });
#undef FRAGMENTS
#undef X265
#undef X264

}  // namespace
}  // namespace saccade::test
