#include "gpu/interop/gl_buffer.h"

#include <cuda_gl_interop.h>
#include <fmt/format.h>

#include <utility>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {

CudaGlBuffer::CudaGlBuffer(int device, std::size_t size_bytes)
    : device_(device), size_bytes_(size_bytes), buffer_(static_cast<std::int64_t>(size_bytes), 0) {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaGraphicsGLRegisterBuffer(&resource_, buffer_.name(), cudaGraphicsRegisterFlagsWriteDiscard),
             "cudaGraphicsGLRegisterBuffer");
}

CudaGlBuffer::~CudaGlBuffer() {
  if (resource_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaGraphicsUnregisterResource(resource_));
}

CudaGlBuffer::Mapping::Mapping(int device, cudaGraphicsResource_t resource, cudaStream_t stream)
    : device_(device), resource_(resource), stream_(stream) {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaGraphicsMapResources(1, &resource_, stream_), "cudaGraphicsMapResources");
}

CudaGlBuffer::Mapping::~Mapping() {
  if (resource_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaGraphicsUnmapResources(1, &resource_, stream_));
}

void CudaGlBuffer::Mapping::unmap() {
  const CudaDeviceGuard guard(device_);
  cudaGraphicsResource_t mapped = std::exchange(resource_, nullptr);
  cuda_check(cudaGraphicsUnmapResources(1, &mapped, stream_), "cudaGraphicsUnmapResources");
}

// The mapping is already whole when this throws, so it ends.
CudaGlBuffer::Mapping::Mapping(int device, cudaGraphicsResource_t resource, cudaStream_t stream, std::size_t size_bytes)
    : Mapping(device, resource, stream) {
  const CudaDeviceGuard guard(device_);
  void* pointer = nullptr;
  std::size_t size = 0;
  const cudaError_t code = cudaGraphicsResourceGetMappedPointer(&pointer, &size, resource_);
  if (code != cudaSuccess || size < size_bytes) {
    cuda_check(code == cudaSuccess ? cudaErrorInvalidValue : code,
               fmt::format("cudaGraphicsResourceGetMappedPointer: {} of {} bytes of a pixel buffer", size, size_bytes));
  }
  data_ = static_cast<std::uint8_t*>(pointer);
}

}  // namespace saccade
