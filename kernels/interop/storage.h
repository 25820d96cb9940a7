// A CUDA texture whose texels GL draws: in GL's own textures, or in CUDA's arrays with copies of them for GL.
#pragma once

#include <span>
#include <vector>

#include "gpu/interop/gl_buffer.h"
#include "gpu/interop/gl_textures.h"
#include "kernels/cuda/storage.h"
#include "kernels/gl/planes.h"

namespace saccade::cuda {

// CUDA's from open() on, until give_to_gl() before each use by GL. Borrows the planes, whose context must be current in
// every call.
class GlStorage : public TextureStorage {
 public:
  virtual void give_to_gl() = 0;
};

// GL's textures, mapped from their first use by CUDA until GL's next one: the device changes between the two in a third
// of a millisecond.
class SharedStorage final : public GlStorage {
 public:
  SharedStorage(int device, std::span<const GlPlane> planes);
  void open(cudaStream_t stream) override;
  void give_to_gl() override;
  const CudaMipmap& plane(int index) const override { return textures_.image(index); }

 private:
  CudaGlTextures textures_;
};

// Where the driver can't share them: CUDA writes storage of its own; what it changed reaches GL when GL asks: every
// level, CUDA -> pixel buffer -> glTextureSubImage2D. Twice the memory, and a copy for each drawn frame.
class CopiedStorage final : public GlStorage {
 public:
  CopiedStorage(int device, const PyramidLayout& layout, std::span<const GlPlane> planes);
  void open(cudaStream_t stream) override;
  void give_to_gl() override;
  const CudaMipmap& plane(int index) const override { return own_.plane(index); }

 private:
  int device_;
  OwnStorage own_;
  std::span<const GlPlane> planes_;
  CudaGlBuffer buffer_;  // every level of every plane, rows without gaps
  cudaStream_t stream_ = nullptr;
  bool changed_ = true;
};

}  // namespace saccade::cuda
