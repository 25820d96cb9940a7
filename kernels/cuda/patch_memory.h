// Page-locked memory of a batch of patches, and the mark that says when they have come.
#pragma once

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "kernels/patch_batch.h"

namespace saccade::cuda {

// Freed only after the card has written what it was told to. wait() sleeps: a writer's thread is in no hurry.
class CudaPatchMemory final : public PatchMemory {
 public:
  explicit CudaPatchMemory(std::size_t size_bytes) : bytes_(size_bytes) {}
  ~CudaPatchMemory() override { static_cast<void>(cudaEventSynchronize(written_.get())); }

  std::byte* data() override { return bytes_.as<std::byte>(); }
  void wait() const override { written_.wait(); }
  CudaEvent& written() { return written_; }

 private:
  PinnedBuffer bytes_;
  CudaEvent written_{CudaEvent::Kind::kSleep};
};

}  // namespace saccade::cuda
