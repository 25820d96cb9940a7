// Owners of linear memory: on a device, and page-locked on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace saccade {

// How memory of a kind comes and goes. Both count it in memory_use(); allocate() throws CudaError.
struct DeviceMemory {
  static std::uint8_t* allocate(int device, std::size_t size_bytes);
  static void release(int device, std::uint8_t* data, std::size_t size_bytes) noexcept;
};
struct PinnedMemory {
  static std::uint8_t* allocate(int device, std::size_t size_bytes);
  static void release(int device, std::uint8_t* data, std::size_t size_bytes) noexcept;
};

// Move-only; a moved-from buffer is empty. Size 0 allocates nothing.
template <class Memory>
class CudaMemoryOwner {
 public:
  CudaMemoryOwner() = default;
  CudaMemoryOwner(int device, std::size_t size_bytes)
      : device_(device),
        data_(size_bytes == 0 ? nullptr : Memory::allocate(device, size_bytes)),
        size_bytes_(size_bytes) {}
  ~CudaMemoryOwner() {
    if (data_ != nullptr) Memory::release(device_, data_, size_bytes_);
  }
  CudaMemoryOwner(CudaMemoryOwner&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  CudaMemoryOwner& operator=(CudaMemoryOwner&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  std::size_t size_bytes() const { return size_bytes_; }
  std::uint8_t* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  int device_ = 0;
  std::uint8_t* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

// Device memory, 256-byte aligned.
using CudaBuffer = CudaMemoryOwner<DeviceMemory>;
// Page-locked host memory that devices can also read in place (unified addressing: the same pointer). device: whose
// context keeps it.
using PinnedBuffer = CudaMemoryOwner<PinnedMemory>;

// Whether `pointer` is page-locked host memory known to CUDA, so that the current device can read it in place.
bool is_pinned(const void* pointer);

}  // namespace saccade
