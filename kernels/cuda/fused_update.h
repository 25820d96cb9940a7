// The fused frame of CudaPyramid behind the FusedUpdate seam.
#pragma once

#include "kernels/cuda/pyramid.h"
#include "kernels/fused_update.h"

namespace saccade {

// Borrows the texture. The first update damages everything.
class CudaFusedUpdate final : public FusedUpdate {
 public:
  CudaFusedUpdate(CudaPyramid& texture, const DiffConfig& config) : texture_(texture), config_(config) {}

  const Damage& update(const FrameView& frame) override {
    if (frame.space == MemorySpace::kCuda) texture_.wait_for_default_stream();
    texture_.update_async(frame, config_, everything_);
    everything_ = false;
    const Damage& damage = texture_.finish_update();
    bytes_ = CudaPyramid::bytes_of(damage, texture_.layout());
    return damage;
  }
  std::int64_t bytes_written() const override { return bytes_; }
  void damage_everything() override { everything_ = true; }
  void configure(const DiffConfig& config) override { config_ = config; }

 private:
  CudaPyramid& texture_;
  DiffConfig config_;
  bool everything_ = true;
  std::int64_t bytes_ = 0;
};

}  // namespace saccade
