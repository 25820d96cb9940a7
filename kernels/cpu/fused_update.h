// The CPU's frame in one pass: each row of tiles is compared, written and made into levels while it is in the cache.
#pragma once

#include "kernels/cpu/pyramid.h"
#include "kernels/cpu/tile_differ.h"
#include "kernels/fused_update.h"

namespace saccade {

class CpuFusedUpdate final : public FusedUpdate {
 public:
  // Borrows the texture. The first update() writes every tile.
  CpuFusedUpdate(CpuPyramid& texture, const DiffConfig& config);

  const Damage& update(const FrameView& frame) override;  // throws as CpuTileDiffer::diff does
  std::int64_t bytes_written() const override { return bytes_; }
  void damage_everything() override { differ_.damage_everything(); }
  void configure(const DiffConfig& config) override { differ_.configure(config); }

 private:
  CpuPyramid& texture_;
  CpuTileDiffer differ_;
  std::int64_t bytes_ = 0;
};

}  // namespace saccade
