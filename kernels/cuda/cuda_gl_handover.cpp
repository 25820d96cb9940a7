#include "kernels/cuda/cuda_gl_handover.h"

#include <stdexcept>

#include "gpu/cuda_error.h"
#include "kernels/cuda/launch.h"
#include "kernels/gl/gl_texel_rect.h"

namespace saccade::cuda {
namespace {

std::size_t plane_bytes(const PlaneLayout& plane) {
  return static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height * plane.texel_bytes());
}

std::size_t frame_bytes(std::span<const GlPlane> planes) {
  std::size_t total = 0;
  for (const GlPlane& plane : planes) total += plane_bytes(plane.layout);
  return total;
}

void check(const FrameView& frame, std::span<const GlPlane> planes) {
  const PlaneLayout& luma = planes.front().layout;
  const bool rgba = frame.layout == PixelLayout::kRgba8;
  const bool wide = frame.layout == PixelLayout::kP016 || frame.layout == PixelLayout::kI420p16;
  if (frame.space != MemorySpace::kCuda || frame.width_px != luma.image_width || frame.height_px != luma.image_height ||
      rgba != (luma.channels == 4) || (wide ? 2 : 1) != luma.bytes_per_channel) {
    throw std::invalid_argument("the frame to hand over is not on the card, or does not fit the texture");
  }
}

}  // namespace

PboHandover::PboHandover(std::span<const GlPlane> planes)
    : planes_(planes), buffers_{CudaGlBuffer(frame_bytes(planes)), CudaGlBuffer(frame_bytes(planes))} {
  if (planes_.size() > 1) offset_bytes_[1] = plane_bytes(planes_[0].layout);
}

void PboHandover::push(const FrameView& frame, std::span<const TileRect> rects, cudaStream_t stream) {
  check(frame, planes_);
  if (rects.empty()) return;
  turn_ ^= 1;
  CudaGlBuffer& buffer = buffers_[static_cast<std::size_t>(turn_)];
  PaddedCopy copy{};
  std::uint8_t* base = buffer.map(stream);
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const PlaneLayout& plane = planes_[p].layout;
    copy.plane[p] = {base + offset_bytes_[p], plane.width, plane.height, plane.image_width, plane.image_height};
  }
  launch_padded_copy(frame.layout, source_of(frame), copy, stream);
  buffer.unmap(stream);

  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer.buffer());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const GlPlane& plane = planes_[p];
    glPixelStorei(GL_UNPACK_ROW_LENGTH, plane.layout.width);
    for (const TileRect& rect : rects) {
      const TexelRect r = texel_rect(rect, plane.layout, 0);
      const std::size_t at =
          offset_bytes_[p] + (static_cast<std::size_t>(r.y) * static_cast<std::size_t>(plane.layout.width) +
                              static_cast<std::size_t>(r.x)) *
                                 static_cast<std::size_t>(plane.layout.texel_bytes());
      glTextureSubImage2D(plane.texture.name(), 0, r.x, r.y, r.width, r.height, plane.format.transfer,
                          plane.format.type, reinterpret_cast<const void*>(at));
    }
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

}  // namespace saccade::cuda
