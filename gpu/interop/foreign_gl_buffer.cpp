#include "gpu/interop/foreign_gl_buffer.h"

#include <cuda_gl_interop.h>
#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {

CudaForeignGlBuffer::CudaForeignGlBuffer(int device, unsigned buffer) : device_(device) {
  const CudaDeviceGuard guard(device_);
  // Not WriteDiscard: a write may leave the rest of the buffer as it is.
  cuda_check(cudaGraphicsGLRegisterBuffer(&resource_, buffer, cudaGraphicsRegisterFlagsNone),
             fmt::format("cudaGraphicsGLRegisterBuffer: OpenGL buffer {}", buffer));
  try {
    map(cudaStreamPerThread, size_bytes_);
    cuda_check(cudaGraphicsUnmapResources(1, &resource_, cudaStreamPerThread), "cudaGraphicsUnmapResources");
  } catch (...) {
    static_cast<void>(cudaGraphicsUnregisterResource(resource_));
    throw;
  }
}

CudaForeignGlBuffer::~CudaForeignGlBuffer() {
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaGraphicsUnregisterResource(resource_));
}

std::byte* CudaForeignGlBuffer::map(cudaStream_t stream, std::size_t& size_bytes) {
  cuda_check(cudaGraphicsMapResources(1, &resource_, stream), "cudaGraphicsMapResources");
  void* pointer = nullptr;
  const cudaError_t code = cudaGraphicsResourceGetMappedPointer(&pointer, &size_bytes, resource_);
  if (code != cudaSuccess) static_cast<void>(cudaGraphicsUnmapResources(1, &resource_, stream));
  cuda_check(code, "cudaGraphicsResourceGetMappedPointer");
  return static_cast<std::byte*>(pointer);
}

void CudaForeignGlBuffer::write(const void* from, std::size_t size_bytes, std::size_t offset, cudaStream_t stream,
                                bool wait) {
  const CudaDeviceGuard guard(device_);
  std::size_t room = 0;
  std::byte* const to = map(stream, room);
  const bool fits = offset <= room && size_bytes <= room - offset;
  const cudaError_t copied =
      fits ? cudaMemcpyAsync(to + offset, from, size_bytes, cudaMemcpyDeviceToDevice, stream) : cudaErrorInvalidValue;
  const cudaError_t unmapped = cudaGraphicsUnmapResources(1, &resource_, stream);
  if (!fits) {
    cuda_check(copied, fmt::format("a buffer of {} bytes has no room for {} at {}", room, size_bytes, offset));
  }
  cuda_check(copied, "cudaMemcpyAsync");
  cuda_check(unmapped, "cudaGraphicsUnmapResources");
  if (wait) cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace saccade
