#include "gpu/cuda_gl_buffer.h"

#include <cuda_gl_interop.h>
#include <fmt/format.h>

#include "gpu/cuda_error.h"

namespace saccade {

CudaGlBuffer::CudaGlBuffer(std::size_t size_bytes)
    : size_bytes_(size_bytes), buffer_(static_cast<std::int64_t>(size_bytes), 0) {
  cuda_check(cudaGraphicsGLRegisterBuffer(&resource_, buffer_.name(), cudaGraphicsRegisterFlagsWriteDiscard),
             "cudaGraphicsGLRegisterBuffer");
}

CudaGlBuffer::~CudaGlBuffer() {
  if (resource_ != nullptr) static_cast<void>(cudaGraphicsUnregisterResource(resource_));
}

std::uint8_t* CudaGlBuffer::map(cudaStream_t stream) {
  cuda_check(cudaGraphicsMapResources(1, &resource_, stream), "cudaGraphicsMapResources");
  void* pointer = nullptr;
  std::size_t size = 0;
  const cudaError_t code = cudaGraphicsResourceGetMappedPointer(&pointer, &size, resource_);
  if (code == cudaSuccess && size >= size_bytes_) return static_cast<std::uint8_t*>(pointer);
  static_cast<void>(cudaGraphicsUnmapResources(1, &resource_, stream));
  cuda_check(code == cudaSuccess ? cudaErrorInvalidValue : code,
             fmt::format("cudaGraphicsResourceGetMappedPointer: {} of {} bytes of a pixel buffer", size, size_bytes_));
  return nullptr;
}

void CudaGlBuffer::unmap(cudaStream_t stream) {
  cuda_check(cudaGraphicsUnmapResources(1, &resource_, stream), "cudaGraphicsUnmapResources");
}

}  // namespace saccade
