// Page-locked memory of batches of patches, for one batch after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"

namespace saccade::cuda {

struct BatchMemory {
  PinnedBuffer bytes;
  CudaEvent written;  // by the device
};

// What batches left when they went: `most` at a time. Any thread.
class KeptBatches {
 public:
  explicit KeptBatches(std::size_t most) : most_(most) {}

  // Of a batch that is gone, where one had that very size. Throws CudaError.
  BatchMemory take(int device, std::size_t size_bytes) {
    {
      const std::lock_guard lock(mutex_);
      const auto fits = [size_bytes](const BatchMemory& memory) { return memory.bytes.size_bytes() == size_bytes; };
      const auto found = std::find_if(kept_.begin(), kept_.end(), fits);
      if (found != kept_.end()) {
        BatchMemory memory = std::move(*found);
        kept_.erase(found);
        return memory;
      }
    }
    return {PinnedBuffer(device, size_bytes), CudaEvent(device, CudaEvent::Kind::kSleep)};
  }

  // The device writes it no more.
  void give(BatchMemory memory) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() < most_) kept_.push_back(std::move(memory));
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::vector<BatchMemory> kept_;
};

}  // namespace saccade::cuda
