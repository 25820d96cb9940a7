#include "kernels/cuda/host_frame.h"

#include <algorithm>
#include <cstring>

#include "gpu/cuda/buffer.h"

namespace saccade::cuda {
namespace {

bool is_planar(PixelLayout layout) { return layout == PixelLayout::kI420 || layout == PixelLayout::kI420p16; }
bool is_wide(PixelLayout layout) { return layout == PixelLayout::kI420p16 || layout == PixelLayout::kP016; }

// Rows of `tile_row_bytes`, of which the frame has `row_bytes`. Whole tiles copy by a constant size.
template <int kTileRowBytes>
void copy_rows(const PlaneView& plane, int x_bytes, int y, int row_bytes, int rows, std::uint8_t* out) {
  const std::uint8_t* from = plane.data + y * plane.pitch_bytes + x_bytes;
  for (int j = 0; j < rows; ++j, from += plane.pitch_bytes, out += kTileRowBytes) {
    if (row_bytes == kTileRowBytes) {
      std::memcpy(out, from, kTileRowBytes);
    } else {
      std::memcpy(out, from, static_cast<std::size_t>(row_bytes));
    }
  }
}

template <typename Sample>
void interleave_rows(const PlaneView& cb, const PlaneView& cr, int x, int y, int width, int rows, std::uint8_t* out) {
  constexpr int kSide = kTilePx / 2;
  constexpr std::ptrdiff_t kBytes = sizeof(Sample);
  for (int j = 0; j < rows; ++j, out += 2 * kSide * kBytes) {
    Sample a[kSide];
    Sample b[kSide];
    Sample both[2 * kSide];
    const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(Sample);
    std::memcpy(a, cb.data + (y + j) * cb.pitch_bytes + x * kBytes, bytes);
    std::memcpy(b, cr.data + (y + j) * cr.pitch_bytes + x * kBytes, bytes);
    for (int i = 0; i < width; ++i) {
      both[2 * i] = a[i];
      both[2 * i + 1] = b[i];
    }
    std::memcpy(out, both, 2 * bytes);
  }
}

}  // namespace

FramePlanes planes_of(const FrameView& frame) {
  const auto width = static_cast<std::size_t>(frame.width_px);
  const auto height = static_cast<std::size_t>(frame.height_px);
  FramePlanes planes;
  if (frame.layout == PixelLayout::kRgba8) {
    planes.count = 1;
    planes.row_bytes[0] = width * 4;
    planes.rows[0] = height;
    return planes;
  }
  const std::size_t bytes = is_wide(frame.layout) ? 2 : 1;
  const bool planar = is_planar(frame.layout);
  planes.count = planar ? 3 : 2;
  planes.row_bytes[0] = width * bytes;
  planes.rows[0] = height;
  for (int p = 1; p < planes.count; ++p) {
    planes.row_bytes[p] = (width + 1) / 2 * bytes * (planar ? 1 : 2);
    planes.rows[p] = (height + 1) / 2;
  }
  return planes;
}

PixelLayout packed_layout(PixelLayout layout) {
  if (layout == PixelLayout::kI420) return PixelLayout::kNv12;
  return layout == PixelLayout::kI420p16 ? PixelLayout::kP016 : layout;
}

void pack_tile(const FrameView& frame, int tx, int ty, std::size_t chroma_offset, std::uint8_t* out) {
  const int x = tx * kTilePx;
  const int y = ty * kTilePx;
  const int width = std::min(kTilePx, frame.width_px - x);
  const int rows = std::min(kTilePx, frame.height_px - y);
  if (frame.layout == PixelLayout::kRgba8) {
    copy_rows<kTilePx * 4>(frame.planes[0], x * 4, y, width * 4, rows, out);
    return;
  }
  const int chroma_width = (width + 1) / 2;
  const int chroma_rows = (rows + 1) / 2;
  std::uint8_t* chroma = out + chroma_offset;
  const bool wide = is_wide(frame.layout);
  if (wide) {
    copy_rows<kTilePx * 2>(frame.planes[0], x * 2, y, width * 2, rows, out);
  } else {
    copy_rows<kTilePx>(frame.planes[0], x, y, width, rows, out);
  }
  if (is_planar(frame.layout)) {
    const auto interleave = wide ? interleave_rows<std::uint16_t> : interleave_rows<std::uint8_t>;
    interleave(frame.planes[1], frame.planes[2], x / 2, y / 2, chroma_width, chroma_rows, chroma);
  } else if (wide) {
    copy_rows<kTilePx * 2>(frame.planes[1], x * 2, y / 2, chroma_width * 4, chroma_rows, chroma);
  } else {
    copy_rows<kTilePx>(frame.planes[1], x, y / 2, chroma_width * 2, chroma_rows, chroma);
  }
}

bool frame_is_pinned(const FrameView& frame) {
  const int count = planes_of(frame).count;
  for (int p = 0; p < count; ++p) {
    if (!is_pinned(frame.planes[static_cast<std::size_t>(p)].data)) return false;
  }
  return true;
}

}  // namespace saccade::cuda
