// The held picture on a device. See Note [Held picture] in kernels/held_picture.h.
#pragma once

#include <memory>

#include "kernels/cuda/held_memory.h"
#include "kernels/held_changes.h"

namespace saccade::cuda {

struct CudaState;

// In the texture's stream. The kernel writes errors into page-locked memory itself, as Note [Patches to the host] says:
// a copy takes a third longer. Throws CudaError.
class CudaHeldPicture final : public DeviceHeldPicture {
 public:
  CudaHeldPicture(CudaState& texture, const ErrorMeasure& measure);
  ~CudaHeldPicture() override;
  CudaHeldPicture(const CudaHeldPicture&) = delete;
  CudaHeldPicture& operator=(const CudaHeldPicture&) = delete;

  TileErrors measure() override;
  void queue() override;

 private:
  CudaState& texture_;
  std::unique_ptr<HeldMemory> memory_;
};

}  // namespace saccade::cuda
