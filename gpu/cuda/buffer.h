// Owners of linear memory: on a device, and page-locked on the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade {

// Device memory, 256-byte aligned. Move-only; a moved-from buffer is empty. Size 0 allocates nothing.
class CudaBuffer {
 public:
  CudaBuffer() = default;
  CudaBuffer(int device, std::size_t size_bytes);
  ~CudaBuffer();
  CudaBuffer(CudaBuffer&& other) noexcept;
  CudaBuffer& operator=(CudaBuffer&& other) noexcept;
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;

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

// Page-locked host memory that devices can also read in place (unified addressing: the same pointer). Move-only.
// device: whose context keeps it.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(int device, std::size_t size_bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

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

// Whether `pointer` is page-locked host memory known to CUDA, so that the current device can read it in place.
bool is_pinned(const void* pointer);

}  // namespace saccade
