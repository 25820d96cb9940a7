#include "kernels/interop/handover.h"

#include <stdexcept>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "kernels/cuda/frame_intake.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/gl/planes.h"

namespace saccade::cuda {

PboHandover::PboHandover(int device, const PyramidLayout& layout, std::span<const GlPlane> planes)
    : device_(device),
      layout_(layout),
      planes_(planes),
      buffers_{CudaGlBuffer(device, static_cast<std::size_t>(layout.level0_bytes())),
               CudaGlBuffer(device, static_cast<std::size_t>(layout.level0_bytes()))} {
  if (planes_.size() > 1) offset_bytes_[1] = static_cast<std::size_t>(planes_[0].layout.level0_bytes());
}

void PboHandover::push(const FrameView& frame, std::span<const TileRect> rects, cudaStream_t stream) {
  check_fits(frame, layout_);
  if (frame.space != MemorySpace::kCuda || frame.device != device_) {
    throw std::invalid_argument("the frame to hand over is not on the device");
  }
  if (rects.empty()) return;
  const CudaDeviceGuard guard(device_);
  gl::forget_errors();
  current_ ^= 1;
  CudaGlBuffer& buffer = buffers_[static_cast<std::size_t>(current_)];
  PaddedCopy copy{};
  CudaGlBuffer::Mapping mapping = buffer.map(stream);
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const PlaneLayout& plane = planes_[p].layout;
    copy.plane[p] = {mapping.data() + offset_bytes_[p], plane.width, plane.height, plane.image_width,
                     plane.image_height};
  }
  launch_padded_copy(frame.layout, source_of(frame), copy, stream);
  mapping.unmap();

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
      write_texels(plane, 0, r, reinterpret_cast<const void*>(at));
    }
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gl::check("glTextureSubImage2D");
}

}  // namespace saccade::cuda
