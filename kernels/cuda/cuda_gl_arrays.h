// The home of a CUDA texture that is GL's: mapped for the time of each call.
#pragma once

#include <span>

#include "gpu/cuda_gl_textures.h"
#include "kernels/cuda/cuda_texture_home.h"
#include "kernels/gl/gl_planes.h"

namespace saccade::cuda {

// Borrows the planes, whose context must be current.
class GlArrays final : public TextureHome {
 public:
  explicit GlArrays(std::span<const GlPlane> planes) : textures_(images(planes)) {}
  void open(cudaStream_t stream) override { textures_.map(stream); }
  void close(cudaStream_t stream) noexcept override { textures_.unmap(stream); }
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
