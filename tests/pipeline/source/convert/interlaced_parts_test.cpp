// Parts of interlaced video: --start, --duration, seeks and loops give the pictures of a whole run.
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/source/open.h"
#include "tests/pipeline/source/support.h"
#include "tests/support/test_name.h"

namespace saccade::test {
namespace {

struct Clip {
  const char* name;
  const char* codec;
  Deinterlace mode = Deinterlace::kAuto;
  const char* filters = "";
};

constexpr const char* kMpeg2 = "-c:v mpeg2video -flags +ildct+ilme -q:v 2 -g 12 -bf 2";
constexpr const char* kH264 = "-c:v libx264 -preset ultrafast -qp 20 -x264-params bff=1 -g 10 -bf 2 -pix_fmt yuv420p";

// 40 frames of 80 fields in which everything moves.
std::string make_fields(const std::string& path, const std::string& order, const std::string& codec) {
  ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=50:duration=1.6,format=yuv420p -vf tinterlace=interleave_" +
         std::string(order == "tff" ? "top" : "bottom") + ",setfield=" + order + " " + codec + " " + path);
  return path;
}

class InterlacedParts : public testing::TestWithParam<Clip> {
 protected:
  void SetUp() override {
    const Clip& clip = GetParam();
    config_.uri = dir_.file(clip.name);
    config_.deinterlace = clip.mode;
    config_.filters = clip.filters;
    const std::string name = clip.name;
    if (name.starts_with("mixed")) {
      make_mixed();
    } else {
      make_fields(config_.uri, std::string(clip.codec) == kH264 ? "bff" : "tff", clip.codec);
    }
    whole_ = record(config_);
    each_ = whole_.shots.size() / 40;
    ASSERT_EQ(whole_.shots.size(), 40 * each_);
  }

  // Frames, fields, frames, fields: only some are flagged.
  void make_mixed() const {
    const std::string frames = dir_.file("frames.ts");
    ffmpeg("-f lavfi -i testsrc2=size=96x64:rate=25:duration=0.4,format=yuv420p -c:v mpeg2video -q:v 2 " + frames);
    const std::string fields = make_fields(dir_.file("fields.ts"), "tff", kMpeg2);
    const std::string short_fields = dir_.file("short.ts");
    ffmpeg("-i " + fields + " -frames:v 10 -c copy " + short_fields);
    ffmpeg("-i " + quoted("concat:" + frames + "|" + short_fields + "|" + frames + "|" + short_fields) +
           " -fflags +genpts -c copy " + config_.uri);
  }

  double second_of(std::size_t frame) const {
    return static_cast<double>(whole_.times_ns()[frame * each_] - whole_.times_ns()[0]) * 1e-9;
  }

  // `first`, `count`: of frames as they are coded.
  void expect_part(const Recording& part, std::size_t first, std::size_t count) const {
    ASSERT_EQ(part.shots.size(), count * each_) << "from " << first;
    for (std::size_t i = 0; i < count * each_; ++i) {
      const Shot& wanted = whole_.shots[first * each_ + i];
      ASSERT_EQ(part.shots[i].bytes, wanted.bytes) << "from " << first << ", frame " << i;
      ASSERT_EQ(part.shots[i].view.pts_ns, wanted.view.pts_ns) << "from " << first << ", frame " << i;
    }
  }

  const TempDir dir_;
  SourceConfig config_;
  Recording whole_;
  std::size_t each_ = 1;  // pictures that are made of a frame
};

TEST_P(InterlacedParts, Start_GivesThePicturesOfTheWhole) {
  for (std::size_t first = 1; first < 40; ++first) {
    config_.start_s = second_of(first);
    expect_part(record(config_), first, 40 - first);
  }
}

TEST_P(InterlacedParts, Pieces_GiveThePicturesOfTheWhole) {
  for (std::size_t first = 0; first + 7 < 40; first += 7) {
    config_.start_s = second_of(first);
    config_.duration_s = second_of(first + 7) - config_.start_s;
    expect_part(record(config_), first, 7);
  }
  config_.start_s = 0.7 / 25;  // between two frames, and one frame alone
  config_.duration_s = 1.0 / 25;
  expect_part(record(config_), 1, 1);
}

TEST_P(InterlacedParts, Seek_GivesThePicturesOfTheWhole) {
  const auto source = open_source(config_);
  for (const std::size_t to : {20U, 5U, 6U, 33U, 0U, 12U}) {
    ASSERT_TRUE(source->seek(whole_.times_ns()[to * each_]));
    Frame frame;
    for (std::size_t i = to * each_; i < std::min<std::size_t>(to + 4, 40) * each_; ++i) {
      ASSERT_EQ(source->next(frame), ReadStatus::kOk);
      ASSERT_EQ(packed(frame.view()), whole_.shots[i].bytes) << "to " << to << ", frame " << i;
    }
  }
}

TEST_P(InterlacedParts, Loop_RepeatsThePicturesOfOnePlay) {
  config_.loops = 2;
  Recording all = record(config_);
  ASSERT_EQ(all.shots.size(), 120 * each_);
  for (std::size_t i = 0; i < 120 * each_; ++i) {
    ASSERT_EQ(all.shots[i].bytes, whole_.shots[i % (40 * each_)].bytes) << "frame " << i;
    if (i > 0) {
      ASSERT_GT(all.shots[i].view.pts_ns, all.shots[i - 1].view.pts_ns) << "frame " << i;
    }
  }
  config_.start_s = second_of(15);
  config_.duration_s = second_of(22) - config_.start_s;
  all = record(config_);
  ASSERT_EQ(all.shots.size(), 21 * each_);
  for (std::size_t i = 0; i < 21 * each_; ++i) {
    ASSERT_EQ(all.shots[i].bytes, whole_.shots[15 * each_ + i % (7 * each_)].bytes) << "frame " << i;
    ASSERT_NEAR(static_cast<double>(all.shots[i].view.pts_ns - all.shots[0].view.pts_ns),
                static_cast<double>(i) * 4e7 / static_cast<double>(each_), 1e3);
  }
}

INSTANTIATE_TEST_SUITE_P(Clips, InterlacedParts,
                         testing::Values(Clip{"fields.ts", kMpeg2}, Clip{"fields.mpg", kMpeg2},
                                         Clip{"fields.mkv", kH264}, Clip{"fields.mp4", kH264},
                                         Clip{"fields_all.mkv", kH264, Deinterlace::kYes},
                                         Clip{"fields_scaled.mp4", kH264, Deinterlace::kAuto, "scale=48:32"},
                                         Clip{"fields_twice.mkv", kH264, Deinterlace::kAuto, "bwdif"},
                                         Clip{"fields_yadif.mpg", kMpeg2, Deinterlace::kNo, "yadif=deint=interlaced"},
                                         Clip{"mixed_twice.ts", "", Deinterlace::kAuto, "yadif=mode=send_field"},
                                         Clip{"mixed.ts", ""}, Clip{"mixed_all.ts", "", Deinterlace::kYes}),
                         [](const auto& clip) { return test_name(clip.param.name); });

}  // namespace
}  // namespace saccade::test
