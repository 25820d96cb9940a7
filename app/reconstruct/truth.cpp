#include "app/reconstruct/truth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/shared/color.h"
#include "kernels/shared/sampling.h"

namespace saccade {
namespace {

// One plane's samples as aligned code values: 8 bits as they are, deeper ones shifted to the top of 16.
class PlaneReader {
 public:
  PlaneReader(const FrameView& frame, std::size_t plane, int stride, int offset)
      : plane_(frame.planes[plane]), stride_(stride), offset_(offset), shift_(frame.shift) {
    deep_ = texture_format(frame.layout) == TextureFormat::kYuv16;
  }
  void row(int y, int count, float* out) const {
    const std::uint8_t* const base = plane_.data + std::ptrdiff_t{y} * plane_.pitch_bytes;
    for (int x = 0; x < count; ++x) out[x] = deep_ ? deep(base, x) : static_cast<float>(base[x * stride_ + offset_]);
  }

 private:
  float deep(const std::uint8_t* base, int x) const {
    std::uint16_t value;
    std::memcpy(&value, base + 2 * (x * stride_ + offset_), sizeof(value));
    return static_cast<float>(static_cast<std::uint16_t>(value << shift_));
  }
  PlaneView plane_;
  int stride_;
  int offset_;
  int shift_;
  bool deep_;
};

// Two neighbouring chroma texels and the share of the second, for each luma position along an axis.
struct Tap {
  int first, second;
  float weight;
};

std::vector<Tap> chroma_taps(int luma_count, float site_shift) {
  const int last = (luma_count + 1) / 2 - 1;
  std::vector<Tap> taps(static_cast<std::size_t>(luma_count));
  for (int i = 0; i < luma_count; ++i) {
    const float at = shared::texel_coordinate(static_cast<float>(i) + 0.5f, 0.5f, site_shift, 1.0f);
    const float below = std::floor(at);
    const int texel = static_cast<int>(below);
    taps[static_cast<std::size_t>(i)] = {std::clamp(texel, 0, last), std::clamp(texel + 1, 0, last), at - below};
  }
  return taps;
}

std::uint8_t to_u8(float value) { return static_cast<std::uint8_t>(std::floor(value * 255.0f + 0.5f)); }

// Interpolates row `y` of a chroma plane to luma resolution: along the two rows first, then between them.
class ChromaRow {
 public:
  ChromaRow(PlaneReader reader, int width_px)
      : reader_(reader),
        count_((width_px + 1) / 2),
        upper_(static_cast<std::size_t>(count_)),
        lower_(static_cast<std::size_t>(count_)),
        out_(static_cast<std::size_t>(width_px)) {}
  const std::vector<float>& at(const Tap& row, const std::vector<Tap>& columns) {
    reader_.row(row.first, count_, upper_.data());
    reader_.row(row.second, count_, lower_.data());
    for (std::size_t x = 0; x < columns.size(); ++x) {
      const auto [first, second, weight] = columns[x];
      const auto a = static_cast<std::size_t>(first);
      const auto b = static_cast<std::size_t>(second);
      out_[x] = shared::lerp(shared::lerp(upper_[a], upper_[b], weight), shared::lerp(lower_[a], lower_[b], weight),
                             row.weight);
    }
    return out_;
  }

 private:
  PlaneReader reader_;
  int count_;
  std::vector<float> upper_, lower_, out_;
};

void yuv_to_rgb(const FrameView& frame, RgbImage& out) {
  const bool deep = texture_format(frame.layout) == TextureFormat::kYuv16;
  const bool planar = frame.layout == PixelLayout::kI420 || frame.layout == PixelLayout::kI420p16;
  const shared::ColorParams params = make_color_params(frame.color, deep ? 65535.0f : 255.0f);
  const PlaneReader luma(frame, 0, 1, 0);
  ChromaRow cb(planar ? PlaneReader(frame, 1, 1, 0) : PlaneReader(frame, 1, 2, 0), frame.width_px);
  ChromaRow cr(planar ? PlaneReader(frame, 2, 1, 0) : PlaneReader(frame, 1, 2, 1), frame.width_px);
  const std::vector<Tap> columns = chroma_taps(frame.width_px, frame.color.site_shift_x);
  const std::vector<Tap> rows = chroma_taps(frame.height_px, frame.color.site_shift_y);
  std::vector<float> y_row(static_cast<std::size_t>(frame.width_px));
  for (int y = 0; y < frame.height_px; ++y) {
    luma.row(y, frame.width_px, y_row.data());
    const std::vector<float>& cb_row = cb.at(rows[static_cast<std::size_t>(y)], columns);
    const std::vector<float>& cr_row = cr.at(rows[static_cast<std::size_t>(y)], columns);
    std::uint8_t* pixel = out.pixel(0, y);
    for (std::size_t x = 0; x < y_row.size(); ++x) {
      const shared::Rgb rgb = shared::ycbcr_to_rgb(y_row[x], cb_row[x], cr_row[x], params);
      for (const float value : {rgb.r, rgb.g, rgb.b}) *pixel++ = to_u8(value);
    }
  }
}

void rgba_to_rgb(const FrameView& frame, RgbImage& out) {
  for (int y = 0; y < frame.height_px; ++y) {
    const std::uint8_t* in = frame.planes[0].data + std::ptrdiff_t{y} * frame.planes[0].pitch_bytes;
    std::uint8_t* pixel = out.pixel(0, y);
    for (int x = 0; x < frame.width_px; ++x, in += 4, pixel += 3) std::copy_n(in, 3, pixel);
  }
}

}  // namespace

void frame_to_rgb(const FrameView& frame, RgbImage& out) {
  if (out.width != frame.width_px || out.height != frame.height_px) out = RgbImage(frame.width_px, frame.height_px);
  if (frame.layout == PixelLayout::kRgba8) {
    rgba_to_rgb(frame, out);
  } else {
    yuv_to_rgb(frame, out);
  }
}

}  // namespace saccade
