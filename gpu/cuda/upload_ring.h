// Page-locked bytes on their way to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"

namespace saccade {

// Slots in turn. A slot is rewritten only after the copy out of it is done; have so many that the host rarely finds one
// in use. The device must be the current one. Throws CudaError.
class UploadRing {
 public:
  UploadRing(int device, std::size_t slots) : device_(device) {
    for (std::size_t i = 0; i < slots; ++i) slots_.push_back({PinnedBuffer(), CudaEvent(device)});
  }

  // Room for `bytes` in every slot at once: taking page-locked memory may wait for the device.
  void reserve(std::size_t bytes) {
    for (Slot& slot : slots_) {
      if (slot.bytes.size_bytes() >= bytes) continue;
      slot.copied.wait();
      slot.bytes = PinnedBuffer(device_, bytes);
    }
  }

  // The next slot, with room for `bytes`. Waits until it is free.
  std::uint8_t* next(std::size_t bytes) {
    current_ = (current_ + 1) % slots_.size();
    slots_[current_].copied.wait();
    if (slots_[current_].bytes.size_bytes() < bytes) reserve(bytes);
    return slots_[current_].bytes.data();
  }

  // Queues a copy of the first `bytes` of the slot that next() gave to device memory.
  void send(void* to, std::size_t bytes, cudaStream_t stream) {
    Slot& slot = slots_[current_];
    cuda_check(cudaMemcpyAsync(to, slot.bytes.data(), bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    slot.copied.record(stream);
  }

 private:
  struct Slot {
    PinnedBuffer bytes;
    CudaEvent copied;
  };
  int device_;
  std::vector<Slot> slots_;
  std::size_t current_ = 0;
};

}  // namespace saccade
