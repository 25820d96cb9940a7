#include "gpu/cuda/buffer.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/memory_use.h"

namespace saccade {

std::uint8_t* DeviceMemory::allocate(int device, std::size_t size_bytes) {
  const CudaDeviceGuard guard(device);
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMalloc of {} bytes", size_bytes));
  memory_use().device_bytes += static_cast<std::int64_t>(size_bytes);
  return static_cast<std::uint8_t*>(data);
}

void DeviceMemory::release(int device, std::uint8_t* data, std::size_t size_bytes) noexcept {
  const CudaDeviceGuard guard(device, std::nothrow);
  static_cast<void>(cudaFree(data));
  memory_use().device_bytes -= static_cast<std::int64_t>(size_bytes);
}

std::uint8_t* PinnedMemory::allocate(int device, std::size_t size_bytes) {
  const CudaDeviceGuard guard(device);
  void* data = nullptr;
  const cudaError_t code = cudaMallocHost(&data, size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMallocHost of {} bytes", size_bytes));
  memory_use().pinned_bytes += static_cast<std::int64_t>(size_bytes);
  return static_cast<std::uint8_t*>(data);
}

void PinnedMemory::release(int device, std::uint8_t* data, std::size_t size_bytes) noexcept {
  const CudaDeviceGuard guard(device, std::nothrow);
  static_cast<void>(cudaFreeHost(data));
  memory_use().pinned_bytes -= static_cast<std::int64_t>(size_bytes);
}

bool is_pinned(const void* pointer) {
  cudaPointerAttributes attributes{};
  cuda_check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeHost && attributes.devicePointer != nullptr;
}

}  // namespace saccade
