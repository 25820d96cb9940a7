// Frames in device memory into GL textures without CUDA writing a texture: CUDA -> pixel buffer -> glTexSubImage2D.
#pragma once

#include <array>
#include <span>

#include "gpu/interop/gl_buffer.h"
#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/gl/planes.h"

namespace saccade::cuda {

// What graphics programs do where a driver can't write textures from CUDA. Two buffers in turn, each of a whole padded
// frame; of them only the rectangles go on to the texture. Borrows the planes; the context must be current.
class PboHandover {
 public:
  PboHandover(int device, const PyramidLayout& layout, std::span<const GlPlane> planes);

  // rects: of padded tiles, as UploadPlanner makes them. Throws std::invalid_argument for a frame that is not on
  // the device or has another size. Queues everything and waits for nothing: the frame must live until `stream` has
  // done this.
  void push(const FrameView& frame, std::span<const TileRect> rects, cudaStream_t stream);

 private:
  int device_;
  PyramidLayout layout_;
  std::span<const GlPlane> planes_;
  std::array<std::size_t, 2> offset_bytes_{};  // of each plane in a buffer
  std::array<CudaGlBuffer, 2> buffers_;
  int current_ = 0;
};

}  // namespace saccade::cuda
