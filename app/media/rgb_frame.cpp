#include "app/media/rgb_frame.h"

#include <cstddef>

#include "app/media/av.h"

namespace saccade {

Frame rgb_frame(const RgbImage& image, float sar, std::int64_t pts_ns, std::int64_t sequence) {
  AvFramePtr frame(preview::make_frame(image.width, image.height, AV_PIX_FMT_RGBA).release());
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.pixel(0, y);
    std::uint8_t* to = frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0];
    for (int x = 0; x < image.width; ++x, from += 3, to += 4) {
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
      to[3] = 255;
    }
  }
  PictureFormat format;
  format.layout = PixelLayout::kRgba8;
  format.sar = sar;
  return {std::move(frame), format, pts_ns, sequence};
}

}  // namespace saccade
