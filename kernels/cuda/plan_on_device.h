// The plan that the device has.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/upload_ring.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/device_texture.h"
#include "kernels/patch_plan.h"

namespace saccade::cuda {

// One block of memory, so one copy: a PatchRecord a patch and, for an emission that stays on the device, a PlaceRecord
// and four floats of geometry each. The device must be the current one. Throws CudaError.
class PlanOnDevice {
 public:
  explicit PlanOnDevice(int device) : device_(device), uploads_(device, 4) {}

  // Queues a copy of what the device doesn't have yet. places, geometry: one and four a patch, or empty.
  void send(const PatchPlan& plan, std::span<const PlaceRecord> places, std::span<const float> geometry,
            cudaStream_t stream);
  void forget() { patches_.clear(), patch_size_ = 0; }  // nothing is queued

  std::size_t count() const { return patches_.size(); }
  int patch_size() const { return patch_size_; }
  const PatchRecord* patches() const { return block_.as<const PatchRecord>(); }
  // Of the plan, once they were sent with it.
  const PlaceRecord* places() const { return reinterpret_cast<const PlaceRecord*>(patches() + count()); }
  const float* geometry() const { return reinterpret_cast<const float*>(places() + count()); }

 private:
  int device_;
  UploadRing uploads_;
  CudaBuffer block_;
  std::vector<Patch> patches_;  // what the device has
  int patch_size_ = 0;
  std::vector<PlaceRecord> places_;
};

}  // namespace saccade::cuda
