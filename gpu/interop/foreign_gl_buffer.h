// A GL buffer of somebody else's that CUDA writes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace saccade {

// Owns the registration, not the buffer. Its context must be current in every call, the destructor's too.
class CudaForeignGlBuffer {
 public:
  CudaForeignGlBuffer(int device, unsigned buffer);  // throws CudaError
  ~CudaForeignGlBuffer();
  CudaForeignGlBuffer(const CudaForeignGlBuffer&) = delete;
  CudaForeignGlBuffer& operator=(const CudaForeignGlBuffer&) = delete;

  std::size_t size_bytes() const { return size_bytes_; }
  // Copies device memory in the order of `stream`; the buffer is GL's again on return, and GL work that follows sees
  // the bytes. What does not fit is a CudaError.
  void write(const void* from, std::size_t size_bytes, std::size_t offset, cudaStream_t stream, bool wait);

 private:
  std::byte* map(cudaStream_t stream, std::size_t& size_bytes);
  int device_;
  cudaGraphicsResource_t resource_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace saccade
