// A GL buffer that CUDA fills: the way from device memory to a texture that CUDA itself can't write.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/gl_objects.h"

namespace saccade {

// Owns the buffer and its registration; unregistered before the buffer goes. The context must be current in every call,
// the destructor's too. Orders like CudaGlTextures: the host waits for nothing.
class CudaGlBuffer {
 public:
  explicit CudaGlBuffer(std::size_t size_bytes);
  ~CudaGlBuffer();
  CudaGlBuffer(const CudaGlBuffer&) = delete;
  CudaGlBuffer& operator=(const CudaGlBuffer&) = delete;

  // Device memory of size_bytes, old contents undefined, until unmap(). Throws CudaError when CUDA maps less than that.
  std::uint8_t* map(cudaStream_t stream);
  void unmap(cudaStream_t stream);
  GLuint buffer() const { return buffer_.name(); }  // for GL_PIXEL_UNPACK_BUFFER, while not mapped
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  gl::Buffer buffer_;
  cudaGraphicsResource_t resource_ = nullptr;
};

}  // namespace saccade
