#include "gpu/cuda/buffer.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "gpu/cuda/error.h"

namespace saccade {

CudaBuffer::CudaBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  const cudaError_t code = cudaMalloc(reinterpret_cast<void**>(&data_), size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMalloc of {} bytes", size_bytes));
}

CudaBuffer::~CudaBuffer() {
  if (data_ != nullptr) static_cast<void>(cudaFree(data_));
}

CudaBuffer::CudaBuffer(CudaBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

CudaBuffer& CudaBuffer::operator=(CudaBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

PinnedBuffer::PinnedBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  const cudaError_t code = cudaMallocHost(reinterpret_cast<void**>(&data_), size_bytes);
  if (code != cudaSuccess) cuda_check(code, fmt::format("cudaMallocHost of {} bytes", size_bytes));
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
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
