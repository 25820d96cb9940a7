// The home of a CUDA texture that is GL's: mapped from its first use by CUDA until GL's next one.
#pragma once

#include <span>

#include "gpu/interop/gl_textures.h"
#include "kernels/gl/planes.h"
#include "kernels/interop/cuda_gl_home.h"

namespace saccade::cuda {

// Borrows the planes, whose context must be current. The card changes between CUDA's work and GL's in a third of a
// millisecond, so textures go back only when GL needs them: give_to_gl() before each use by GL.
class GlArrays final : public GlHome {
 public:
  explicit GlArrays(std::span<const GlPlane> planes) : textures_(images(planes)) {}
  void open(cudaStream_t stream) override {
    if (!textures_.mapped()) textures_.map(stream);
  }
  void give_to_gl() override {
    if (textures_.mapped()) textures_.unmap();
  }
  const CudaMipmap& plane(int index) const override { return textures_.image(index); }

 private:
  static std::vector<CudaGlTextures::Image> images(std::span<const GlPlane> planes) {
    std::vector<CudaGlTextures::Image> images;
    for (const GlPlane& plane : planes) images.push_back({plane.texture.name(), mipmap_shape(plane.layout)});
    return images;
  }
  CudaGlTextures textures_;
};

}  // namespace saccade::cuda
