// A GL buffer that CUDA fills: the way from device memory to a texture that CUDA itself can't write.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/gl/objects.h"

namespace saccade {

// Owns the buffer and its registration; unregistered before the buffer goes. The context must be current in every call,
// the destructor's too. Orders like CudaGlTextures: the host waits for nothing.
class CudaGlBuffer {
 public:
  CudaGlBuffer(int device, std::size_t size_bytes);
  ~CudaGlBuffer();
  CudaGlBuffer(const CudaGlBuffer&) = delete;
  CudaGlBuffer& operator=(const CudaGlBuffer&) = delete;

  // Device memory of size_bytes, old contents undefined; GL's again after unmap(), or when it goes.
  // The buffer outlives it.
  class Mapping {
   public:
    ~Mapping();  // says nothing of a failure: there was one before
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    std::uint8_t* data() const { return data_; }
    void unmap();

   private:
    friend class CudaGlBuffer;
    Mapping(int device, cudaGraphicsResource_t resource, cudaStream_t stream);
    Mapping(int device, cudaGraphicsResource_t resource, cudaStream_t stream, std::size_t size_bytes);
    int device_;
    cudaGraphicsResource_t resource_;  // null: unmapped
    cudaStream_t stream_;
    std::uint8_t* data_ = nullptr;
  };
  // Throws CudaError when CUDA maps less than size_bytes.
  Mapping map(cudaStream_t stream) { return Mapping(device_, resource_, stream, size_bytes_); }
  GLuint buffer() const { return buffer_.name(); }  // for GL_PIXEL_UNPACK_BUFFER, while not mapped
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  int device_;
  std::size_t size_bytes_;
  gl::Buffer buffer_;
  cudaGraphicsResource_t resource_ = nullptr;
};

}  // namespace saccade
