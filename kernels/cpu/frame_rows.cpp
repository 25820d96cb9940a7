#include "kernels/cpu/frame_rows.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace saccade {

void check_frame(const FrameView& frame, const PyramidLayout& layout) {
  if (frame.space != MemorySpace::kHost) {
    throw std::invalid_argument("the cpu backend reads frames in host memory; this one is on the GPU");
  }
  check_fits(frame, layout);
}

FrameRows::FrameRows(const FrameView& frame, int plane, const CpuOps& ops)
    : ops_(ops), first_(frame.planes[static_cast<std::size_t>(plane)]), second_(frame.planes[2]), shift_(frame.shift) {
  const bool wide = frame.layout == PixelLayout::kI420p16 || frame.layout == PixelLayout::kP016;
  const bool planar = frame.layout == PixelLayout::kI420 || frame.layout == PixelLayout::kI420p16;
  channels_ = frame.layout == PixelLayout::kRgba8 ? 4 : plane == 1 ? 2 : 1;
  texel_bytes_ = channels_ * (wide ? 2 : 1);
  if (plane == 1 && planar) {
    form_ = wide ? Form::kInterleave16 : Form::kInterleave8;
  } else {
    form_ = wide && shift_ != 0 ? Form::kShift16 : Form::kDirect;
  }
}

void FrameRows::pack(int x, int y, int n, std::uint8_t* out) const {
  const auto count = static_cast<std::size_t>(n);
  const std::uint8_t* a = first_.data + y * first_.pitch_bytes;
  switch (form_) {
    case Form::kDirect:
      std::memcpy(out, a + x * texel_bytes_, count * static_cast<std::size_t>(texel_bytes_));
      break;
    case Form::kInterleave8:
      ops_.interleave8(a + x, second_.data + y * second_.pitch_bytes + x, out, count);
      break;
    case Form::kInterleave16:
      ops_.interleave16(a + x * 2, second_.data + y * second_.pitch_bytes + x * 2, out, count, shift_);
      break;
    case Form::kShift16:
      ops_.shift16(a + x * texel_bytes_, out, count * static_cast<std::size_t>(channels_), shift_);
      break;
  }
}

TileRowReader::TileRowReader(const PyramidLayout& layout) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const auto slot = static_cast<std::size_t>(p);
    planes_[slot] = layout.planes[slot];
    packed_[slot].resize(static_cast<std::size_t>(planes_[slot].image_width * planes_[slot].texel_bytes()) *
                         static_cast<std::size_t>(planes_[slot].tile_size()));
  }
}

TileRow TileRowReader::read(const FrameView& frame, int plane, int ty, const CpuOps& ops) {
  const auto slot = static_cast<std::size_t>(plane);
  const PlaneLayout& shape = planes_[slot];
  const int y_begin = ty * shape.tile_size();
  const int rows = std::min(shape.tile_size(), shape.image_height - y_begin);
  const FrameRows source(frame, plane, ops);
  if (source.direct()) return {source.direct_row(y_begin), source.direct_pitch(), rows};
  const std::ptrdiff_t pitch = std::ptrdiff_t{shape.image_width} * shape.texel_bytes();
  for (int y = 0; y < rows; ++y) source.pack(0, y_begin + y, shape.image_width, packed_[slot].data() + y * pitch);
  return {packed_[slot].data(), pitch, rows};
}

}  // namespace saccade
