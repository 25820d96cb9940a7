#include "gpu/cuda/buffer.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/memory_use.h"

namespace saccade {

CudaBuffer::CudaBuffer(int device, std::size_t size_bytes) : device_(device), size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  const CudaDeviceGuard guard(device_);
  const cudaError_t code = cudaMalloc(reinterpret_cast<void**>(&data_), size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMalloc of {} bytes", size_bytes));
  memory_use().device_bytes += static_cast<std::int64_t>(size_bytes);
}

CudaBuffer::~CudaBuffer() {
  if (data_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaFree(data_));
  memory_use().device_bytes -= static_cast<std::int64_t>(size_bytes_);
}

CudaBuffer::CudaBuffer(CudaBuffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

CudaBuffer& CudaBuffer::operator=(CudaBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

PinnedBuffer::PinnedBuffer(int device, std::size_t size_bytes) : device_(device), size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  const CudaDeviceGuard guard(device_);
  const cudaError_t code = cudaMallocHost(reinterpret_cast<void**>(&data_), size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMallocHost of {} bytes", size_bytes));
  memory_use().pinned_bytes += static_cast<std::int64_t>(size_bytes);
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  static_cast<void>(cudaFreeHost(data_));
  memory_use().pinned_bytes -= static_cast<std::int64_t>(size_bytes_);
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

bool is_pinned(const void* pointer) {
  cudaPointerAttributes attributes{};
  cuda_check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeHost && attributes.devicePointer != nullptr;
}

}  // namespace saccade
