// Colour tags that no table knows: what a damaged bitstream may say, and some decoders hand on.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "pipeline/source/convert/color_tags.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace saccade::test {
namespace {

struct FrameDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

template <class Tag>
void put_code(Tag& tag, unsigned code) {
  static_assert(sizeof(Tag) == sizeof code);
  std::memcpy(&tag, &code, sizeof code);
}

TEST(ColorTags, WithoutMeaning_AreAsGoodAsNone) {
  for (const unsigned code : {33U, 255U, 0xFFFFFFFFU}) {
    const std::unique_ptr<AVFrame, FrameDeleter> frame(av_frame_alloc());
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = 1280;
    frame->height = 720;
    put_code(frame->chroma_location, code);
    put_code(frame->colorspace, code);
    put_code(frame->color_range, code);
    put_code(frame->color_trc, code);
    put_code(frame->color_primaries, code);
    const ResolvedTags tags = resolve_tags(*frame, false);
    EXPECT_FALSE(tags.matrix_tagged);
    EXPECT_FALSE(tags.range_tagged);
    EXPECT_EQ(frame->chroma_location, AVCHROMA_LOC_LEFT);
    EXPECT_EQ(frame->colorspace, AVCOL_SPC_BT709);
    EXPECT_EQ(frame->color_range, AVCOL_RANGE_MPEG);
    EXPECT_EQ(frame->color_trc, AVCOL_TRC_UNSPECIFIED);
    EXPECT_EQ(frame->color_primaries, AVCOL_PRI_UNSPECIFIED);
  }
}

}  // namespace
}  // namespace saccade::test
