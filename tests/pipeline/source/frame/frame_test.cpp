// A frame's view is its picture's; a live frame's origin stays with it through filters, copies and delays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/source/convert/filter_graph.h"
#include "pipeline/source/frame/frame.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace saccade {
namespace {

constexpr std::int64_t kFrame = 40'000'000;

AvFramePtr gray_picture(std::int64_t number) {
  AvFramePtr picture(av_frame_alloc());
  picture->format = AV_PIX_FMT_YUV420P;
  picture->width = 64;
  picture->height = 48;
  picture->pts = number * kFrame;
  picture->sample_aspect_ratio = {1, 1};
  picture->colorspace = AVCOL_SPC_BT709;
  picture->color_range = AVCOL_RANGE_MPEG;
  EXPECT_GE(av_frame_get_buffer(picture.get(), 0), 0);
  for (int p = 0; p < 3; ++p) {
    std::fill_n(picture->data[p], picture->linesize[p] * (p == 0 ? 48 : 24), std::uint8_t{128});
  }
  return picture;
}

FrameOrigin origin_of(std::int64_t number) { return {1000 + number, 2000 + number, CaptureClock::kSender, 0}; }

// What comes out of a chain into which ten frames went, each with its origin.
std::vector<FrameOrigin> origins_after(const std::string& chain) {
  FilterGraph graph(chain, *gray_picture(0), {25, 1}, 0);
  std::vector<FrameOrigin> origins;
  const AvFramePtr out(av_frame_alloc());
  const auto pull = [&] {
    while (graph.pull(out.get()) >= 0) {
      origins.push_back(attached_origin(*out));
      av_frame_unref(out.get());
    }
  };
  for (std::int64_t i = 0; i < 10; ++i) {
    const AvFramePtr picture = gray_picture(i);
    attach_origin(*picture, origin_of(i));
    EXPECT_GE(graph.push(picture.get()), 0);
    pull();
  }
  graph.finish(10 * kFrame);
  pull();
  return origins;
}

TEST(FrameOrigin, OfEachFrame_StaysWithItThroughFilters) {
  for (const char* chain :
       {"bwdif=mode=send_frame:deint=all", "scale=32:24,format=rgba", "transpose,setpts=2*PTS", "fps=25", "drawbox"}) {
    const std::vector<FrameOrigin> origins = origins_after(chain);
    ASSERT_EQ(origins.size(), 10U) << chain;
    for (std::int64_t i = 0; i < 10; ++i) {
      const FrameOrigin& got = origins[static_cast<std::size_t>(i)];
      EXPECT_EQ(got.captured_ns, 1000 + i) << chain;
      EXPECT_EQ(got.arrived_ns, 2000 + i) << chain;
      EXPECT_EQ(got.clock, CaptureClock::kSender) << chain;
    }
  }
}

TEST(FrameOrigin, OfAPictureThatHasNone_IsEmpty) {
  const AvFramePtr picture = gray_picture(0);
  EXPECT_EQ(attached_origin(*picture).arrived_ns, 0);
  picture->opaque_ref = av_buffer_allocz(sizeof(FrameOrigin));  // somebody else's
  picture->opaque_ref->data[0] = 1;
  EXPECT_EQ(attached_origin(*picture).captured_ns, 0);
  attach_origin(*picture, origin_of(3));
  EXPECT_EQ(attached_origin(*picture).captured_ns, 1003);
  attach_origin(*picture, origin_of(4));
  EXPECT_EQ(attached_origin(*picture).captured_ns, 1004);
}

TEST(Frame, View_IsThePicturesWithItsFormat) {
  AvFramePtr picture = gray_picture(5);
  attach_origin(*picture, origin_of(5));
  const AVFrame& raw = *picture;
  PictureFormat format;
  format.layout = PixelLayout::kI420;
  format.sar = 0.5f;
  format.color.depth_bits = 8;
  Frame frame(std::move(picture), format, 7, 3);
  const FrameView& view = frame.view();
  EXPECT_EQ(view.width_px, 64);
  EXPECT_EQ(view.height_px, 48);
  EXPECT_EQ(view.space, MemorySpace::kHost);
  EXPECT_EQ(view.sar, 0.5f);
  EXPECT_EQ(view.pts_ns, 7);
  EXPECT_EQ(view.sequence, 3);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(view.planes[p].data, raw.data[p]);
    EXPECT_EQ(view.planes[p].pitch_bytes, raw.linesize[p]);
  }
  EXPECT_EQ(frame.origin().arrived_ns, 2005);
  frame.place(11, 12, 2);
  EXPECT_EQ(frame.view().pts_ns, 11);
  EXPECT_EQ(frame.view().sequence, 12);
  EXPECT_EQ(frame.origin().gaps, 2);
  EXPECT_EQ(frame.origin().arrived_ns, 2005);
}

}  // namespace
}  // namespace saccade
