// The staged diff on the card.
#pragma once

#include "kernels/cuda/pyramid.h"
#include "kernels/tile_differ.h"

namespace saccade {

// Borrows the texture, whose stream and damage buffers it uses. Host frames are copied to the card first. The first
// diff() reports every tile. diff() waits for its result.
class CudaTileDiffer final : public TileDiffer {
 public:
  CudaTileDiffer(CudaPyramid& texture, const DiffConfig& config);

  const Damage& diff(const FrameView& frame) override;
  void damage_everything() override { everything_ = true; }
  void configure(const DiffConfig& config) override { config_ = config; }

 private:
  CudaPyramid& texture_;
  DiffConfig config_;
  bool everything_ = true;
};

}  // namespace saccade
