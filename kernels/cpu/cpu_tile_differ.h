// Compares frames in host memory with a CpuPyramid's level 0.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/cpu_pyramid.h"
#include "kernels/cpu/ops.h"
#include "kernels/tile_differ.h"

namespace saccade {

class CpuTileDiffer final : public TileDiffer {
 public:
  // Borrows the texture. The first diff() reports every tile.
  CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config);
  CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config, const CpuOps& ops);

  const Damage& diff(const FrameView& frame) override;
  void damage_everything() override { everything_ = true; }
  void configure(const DiffConfig& config) override;

 private:
  bool exact() const { return config_.threshold == 0 && config_.min_pixels == 0; }
  void diff_tile_row(const FrameView& frame, int ty);
  void mark_plane(const FrameView& frame, int plane, int ty);
  std::uint32_t energy(const FrameView& frame, int tx, int ty) const;

  const CpuPyramid& texture_;
  CpuOps ops_;
  DiffConfig config_;
  std::array<LevelView, 2> base_;  // the texture's level 0
  Damage damage_;
  bool everything_ = true;
  std::vector<std::uint8_t> packed_;  // one row of a frame in the texture's form
  std::vector<std::uint8_t> marks_;   // one per byte of a row, gathered over a tile row
  std::vector<std::uint32_t> sums_;   // one per tile of a tile row
};

}  // namespace saccade
