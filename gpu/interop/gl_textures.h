// GL textures that CUDA reads and writes in place.
#pragma once

#include <span>
#include <vector>

#include "gpu/cuda/mipmap.h"
#include "gpu/gl/objects.h"

namespace saccade {

// The ordinal of the CUDA device that the current GL context draws with; -1: none (another GPU, software, no driver).
int cuda_device_of_current_gl();

// Registered once, mapped for each use: while mapped, GL must not touch them (CUDA's manual, "OpenGL
// Interoperability"). GL commands issued before map() come before the stream's later work, and the stream's work before
// unmap() comes before later GL commands: nobody waits on the host. The context must be current in every call, the
// destructor's too, and the textures outlive this. Throws CudaError; a driver that can't share a format says so there.
class CudaGlTextures {
 public:
  struct Image {
    GLuint texture = 0;  // GL_TEXTURE_2D, immutable storage
    CudaMipmapShape shape;
  };
  CudaGlTextures(int device, std::span<const Image> images);
  ~CudaGlTextures();
  CudaGlTextures(const CudaGlTextures&) = delete;
  CudaGlTextures& operator=(const CudaGlTextures&) = delete;

  void map(cudaStream_t stream);
  void unmap();  // in the stream of map()
  bool mapped() const { return mapped_; }
  const CudaMipmap& image(int index) const { return images_[static_cast<std::size_t>(index)]; }  // while mapped

 private:
  cudaError_t try_unmap() noexcept;
  void release() noexcept;

  int device_;
  std::vector<CudaMipmapShape> shapes_;
  std::vector<cudaGraphicsResource_t> resources_;
  std::vector<CudaMipmap> images_;  // remade where the array handed out is another one
  cudaStream_t stream_ = nullptr;   // in which they are mapped
  bool mapped_ = false;
};

}  // namespace saccade
