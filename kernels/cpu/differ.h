// Compares frames in host memory with a CpuPyramid's level 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/frame_rows.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/texture.h"

namespace saccade {

class CpuTileDiffer {
 public:
  // Borrows the texture. The first diff() reports every tile.
  CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config);
  CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config, const CpuOps& ops);

  const Damage& diff(const FrameView& frame);  // valid until the next diff()
  void damage_everything() { everything_ = true; }
  void configure(const DiffConfig& config);
  void start_over(const DiffConfig& config);  // as newly made

  // diff() in steps, a row of tiles at a time. begin() returns false when every tile is damaged and no row need be
  // compared; may_differ() is false for a row of tiles that need not be read then; read_row() gives the rows of each
  // plane, until the next read_row(). Throws as diff() does.
  bool begin(const FrameView& frame);
  static bool may_differ(const FrameView& frame, int ty);
  std::span<const TileRow> read_row(const FrameView& frame, int ty);
  void diff_row(std::span<const TileRow> planes, int ty);
  const Damage& damage() const { return damage_; }

 private:
  bool exact() const { return config_.threshold == 0 && config_.min_samples == 0; }
  void compare_row(std::span<const TileRow> planes, int ty);
  void count_row(std::span<const TileRow> planes, int ty);
  void mark_plane(const TileRow& rows, int plane, int ty);
  std::uint32_t energy(const TileRow& luma, int tx, int ty) const;

  const CpuPyramid& texture_;
  CpuOps ops_;
  DiffConfig config_;
  std::array<LevelView, 2> base_;  // the texture's level 0
  Damage damage_;
  bool everything_ = true;
  TileRowReader reader_;
  std::array<TileRow, 2> rows_;                       // of the row of tiles last read
  std::vector<std::uint8_t> marks_;                   // one per byte of a row, gathered over a tile row
  std::vector<std::uint32_t> sums_;                   // one per tile of a tile row
  std::array<std::vector<std::uint8_t>, 2> unequal_;  // per plane, one per 16 bytes of a row
  std::array<std::vector<std::uint32_t>, 2> energy_;
};

}  // namespace saccade
