#include "kernels/cpu/frame_rows.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace saccade {

void check_frame(const FrameView& frame, const PyramidLayout& layout) {
  if (frame.space != MemorySpace::kHost) {
    throw std::invalid_argument("the cpu backend reads frames in host memory; this one is on the GPU");
  }
  if (frame.width_px != layout.width_px || frame.height_px != layout.height_px ||
      texture_format(frame.layout) != layout.format) {
    throw std::invalid_argument(fmt::format("a {}x{} {} frame does not fit a {}x{} {} texture", frame.width_px,
                                            frame.height_px, name(frame.layout), layout.width_px, layout.height_px,
                                            name(layout.format)));
  }
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

}  // namespace saccade
