#include "pipeline/source/push/pushed_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "pipeline/error.h"

#if defined(SACCADE_CUDA)
#include "kernels/cuda/frames/complete_frame.h"
#endif

namespace saccade {
namespace {

struct PixelsRow {
  PixelLayout layout;
  const char* name;  // FFmpeg's
  int planes;        // that the caller gives
  int sample_bytes;
  int pixel_bytes;  // of plane 0
};

PixelsRow row_of(PushedPixels pixels) {
  switch (pixels) {
    case PushedPixels::kRgb8:
      return {PixelLayout::kRgba8, "rgb24", 1, 1, 3};
    case PushedPixels::kBgr8:
      return {PixelLayout::kRgba8, "bgr24", 1, 1, 3};
    case PushedPixels::kRgb8Planar:
      return {PixelLayout::kRgba8, "gbrp", 3, 1, 1};
    case PushedPixels::kRgba8:
      return {PixelLayout::kRgba8, "rgba", 1, 1, 4};
    case PushedPixels::kGray8:
      return {PixelLayout::kNv12, "gray", 1, 1, 1};
    case PushedPixels::kI420:
      return {PixelLayout::kI420, "yuv420p", 3, 1, 1};
    case PushedPixels::kNv12:
      return {PixelLayout::kNv12, "nv12", 2, 1, 1};
    case PushedPixels::kP010:
      return {PixelLayout::kP016, "p010le", 2, 2, 2};
  }
  throw UsageError("frames: there is no such pixel format");
}

bool is_rgb(PushedPixels pixels) {
  return pixels == PushedPixels::kRgb8 || pixels == PushedPixels::kBgr8 || pixels == PushedPixels::kRgb8Planar;
}

// Bytes of a row of a plane that the caller gives.
std::ptrdiff_t row_bytes(const PushedFormat& format, const PixelsRow& row, int plane) {
  const bool chroma = plane > 0 && row.layout != PixelLayout::kRgba8;
  if (!chroma) return std::ptrdiff_t{format.width_px} * row.pixel_bytes;
  const int channels = row.layout == PixelLayout::kI420 ? 1 : 2;
  return std::ptrdiff_t{(format.width_px + 1) / 2} * channels * row.sample_bytes;
}

// The caller's planes with every pitch filled in.
std::array<PlaneView, 3> checked_planes(const PushedFormat& format, const PixelsRow& row,
                                        const PushedPicture& picture) {
  std::array<PlaneView, 3> planes{};
  for (int p = 0; p < row.planes; ++p) {
    PlaneView plane = picture.planes[static_cast<std::size_t>(p)];
    const std::ptrdiff_t needed = row_bytes(format, row, p);
    if (plane.data == nullptr) throw UsageError(fmt::format("frame: plane {} of {} is missing", p, row.name));
    if (plane.pitch_bytes == 0) plane.pitch_bytes = needed;
    if (std::abs(plane.pitch_bytes) < needed) {
      throw UsageError(fmt::format("frame: plane {} of {} has rows of {} bytes, its pitch is {}", p, row.name, needed,
                                   plane.pitch_bytes));
    }
    const auto address = reinterpret_cast<std::uintptr_t>(plane.data);
    if (address % static_cast<std::uintptr_t>(row.sample_bytes) != 0 || plane.pitch_bytes % row.sample_bytes != 0) {
      throw UsageError(fmt::format("frame: plane {} of {} is not aligned to its samples of {} bytes", p, row.name,
                                   row.sample_bytes));
    }
    planes[static_cast<std::size_t>(p)] = plane;
  }
  return planes;
}

RgbPlanes rgb_planes(PushedPixels pixels, const std::array<PlaneView, 3>& planes) {
  if (pixels == PushedPixels::kRgb8Planar) return {planes, 1};
  const PlaneView whole = planes[0];
  RgbPlanes rgb{{whole, whole, whole}, 3};
  for (std::size_t c = 0; c < 3; ++c) rgb.channel[c].data += pixels == PushedPixels::kBgr8 ? 2 - c : c;
  return rgb;
}

template <int kStep>
void pack_row(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, int width, std::uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    out[4 * x] = r[kStep * x];
    out[4 * x + 1] = g[kStep * x];
    out[4 * x + 2] = b[kStep * x];
    out[4 * x + 3] = 255;
  }
}

// rect lies inside; out: rows of width pixels.
void pack_rgba(const RgbPlanes& rgb, const PixelRect& rect, int width, std::uint8_t* out) {
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    std::uint8_t* const to = out + (std::ptrdiff_t{y} * width + rect.x) * 4;
    const auto row = [&](std::size_t c) {
      return rgb.channel[c].data + y * rgb.channel[c].pitch_bytes + std::ptrdiff_t{rect.x} * rgb.step;
    };
    if (rgb.step == 1) {
      pack_row<1>(row(0), row(1), row(2), rect.width, to);
    } else {
      pack_row<3>(row(0), row(1), row(2), rect.width, to);
    }
  }
}

PixelRect inside(const PixelRect& rect, const PushedFormat& format) {
  const int left = std::max(rect.x, 0), top = std::max(rect.y, 0);
  return {left, top, std::min(rect.x + rect.width, format.width_px) - left,
          std::min(rect.y + rect.height, format.height_px) - top};
}

std::size_t gray_chroma_bytes(const PushedFormat& format) {
  return static_cast<std::size_t>(row_bytes(format, row_of(PushedPixels::kNv12), 1)) *
         static_cast<std::size_t>((format.height_px + 1) / 2);
}

}  // namespace

#if defined(SACCADE_CUDA)
class PushedFrames::OnDevice {
 public:
  OnDevice(int device, const PushedFormat& format)
      : frames(device, format.width_px, format.height_px, is_rgb(format.pixels)) {}
  cuda::CompletedFrame frames;
};
#else
class PushedFrames::OnDevice {};
#endif

StreamInfo pushed_info(const PushedFormat& format) {
  const PixelsRow row = row_of(format.pixels);
  StreamInfo info;
  info.uri = "frames";
  info.container = info.codec = info.decoder = "none";
  info.pixel_format = row.name;
  info.coded_width_px = info.width_px = format.width_px;
  info.coded_height_px = info.height_px = format.height_px;
  info.layout = row.layout;
  info.color = format.color;
  const bool is_rgb = row.layout == PixelLayout::kRgba8;  // of which nothing is left to a rule
  info.matrix_tagged = is_rgb || format.matrix_given;
  info.range_tagged = is_rgb || format.range_given;
  info.sar = static_cast<double>(format.sar);
  info.fps = format.fps;
  return info;
}

PushedFrames::PushedFrames(const PushedFormat& format) : format_(format) {}
PushedFrames::~PushedFrames() = default;
PushedFrames::PushedFrames(PushedFrames&&) noexcept = default;
PushedFrames& PushedFrames::operator=(PushedFrames&&) noexcept = default;

FrameView PushedFrames::like(MemorySpace space, int device) const {
  FrameView view;
  view.layout = row_of(format_.pixels).layout;
  view.space = space;
  view.device = device;
  view.width_px = format_.width_px;
  view.height_px = format_.height_px;
  view.color = format_.color;
  view.sar = format_.sar;
  return view;
}

FrameView PushedFrames::on_host(const PushedPicture& picture, FrameView view) {
  const auto width = static_cast<std::size_t>(format_.width_px);
  if (is_rgb(format_.pixels)) {
    const RgbPlanes rgb = rgb_planes(format_.pixels, picture.planes);
    const PixelRect whole{0, 0, format_.width_px, format_.height_px};
    const bool known = picture.may_differ && completed_is_last_;
    completed_.resize(width * 4 * static_cast<std::size_t>(format_.height_px));
    for (const PixelRect& rect : known ? *picture.may_differ : std::vector<PixelRect>{whole}) {
      pack_rgba(rgb, inside(rect, format_), format_.width_px, completed_.data());
    }
    view.planes = {PlaneView{completed_.data(), static_cast<std::ptrdiff_t>(width * 4)}};
  } else if (format_.pixels == PushedPixels::kGray8) {
    if (completed_.empty()) completed_.assign(gray_chroma_bytes(format_), 128);
    view.planes[1] = {completed_.data(), row_bytes(format_, row_of(PushedPixels::kNv12), 1)};
  }
  return view;
}

FrameView PushedFrames::take(const PushedPicture& picture) {
  PushedPicture checked = picture;
  checked.planes = checked_planes(format_, row_of(format_.pixels), picture);
  FrameView view = like(picture.space, picture.device);
  view.stream = picture.stream;
  view.planes = checked.planes;
  view.pts_ns = picture.pts_ns;
  if (picture.may_differ) view.may_differ = *picture.may_differ;
  if (picture.space == MemorySpace::kHost) {
    view = on_host(checked, view);
  } else if (is_rgb(format_.pixels) || format_.pixels == PushedPixels::kGray8) {
#if defined(SACCADE_CUDA)
    if (!on_device_) on_device_ = std::make_unique<OnDevice>(picture.device, format_);
    on_device_->frames.begin(picture.stream);
    if (is_rgb(format_.pixels)) {
      view.planes = {on_device_->frames.pack(rgb_planes(format_.pixels, checked.planes), picture.stream)};
    } else {
      view.planes[1] = on_device_->frames.gray_chroma(picture.stream);
    }
#else
    throw UnavailableError("frames on a device: this build has no CUDA (SACCADE_CUDA)");
#endif
  }
  completed_is_last_ = picture.space == MemorySpace::kHost;
  view.sequence = sequence_++;
  return view;
}

}  // namespace saccade
