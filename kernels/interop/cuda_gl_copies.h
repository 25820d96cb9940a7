// The home of a CUDA texture whose texels GL's textures get as copies: where the driver can't share the textures.
#pragma once

#include <span>

#include "gpu/interop/gl_buffer.h"
#include "kernels/gl/planes.h"
#include "kernels/interop/cuda_gl_home.h"

namespace saccade::cuda {

// CUDA writes arrays of its own; what it changed reaches GL when GL asks: every level, CUDA -> pixel buffer ->
// glTextureSubImage2D. Twice the memory, and a copy for each drawn frame. Borrows the planes, whose context must be
// current.
class GlCopies final : public GlHome {
 public:
  GlCopies(const PyramidLayout& layout, std::span<const GlPlane> planes);
  void open(cudaStream_t stream) override;
  void give_to_gl() override;
  const CudaMipmap& plane(int index) const override { return own_.plane(index); }

 private:
  OwnArrays own_;
  std::span<const GlPlane> planes_;
  CudaGlBuffer buffer_;  // every level of every plane, rows without gaps
  cudaStream_t stream_ = nullptr;
  bool changed_ = true;
};

}  // namespace saccade::cuda
