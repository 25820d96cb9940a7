// Planes and levels in host memory: the storage of the CPU's texture, and the shadow of textures on a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/frame_rows.h"
#include "kernels/cpu/ops.h"
#include "kernels/texture.h"

namespace saccade {

struct TexelPosition {
  int x = 0, y = 0;
};

class CpuPyramid final : public Levels {
 public:
  // The table decides which code runs, never what it computes.
  explicit CpuPyramid(const PyramidLayout& layout, const CpuOps& ops = simd_ops());

  const PyramidLayout& layout() const override { return layout_; }
  const CpuOps& ops() const { return ops_; }

  // Throws std::invalid_argument when frame or damage do not fit the texture. Counts padding among the bytes written.
  std::int64_t upload(const FrameView& frame, const Damage& damage);
  void refresh_mips(const Damage& damage);
  // Throws std::invalid_argument when plan and batch differ in N or S.
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch);
  // For a batch that already holds the right samples wherever wanted[n] is 0; an empty `wanted` means all.
  void sample_wanted(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> wanted,
                     PatchBatch& batch);
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override;

  // upload() and refresh_mips() in steps, for tiles [tx_begin, tx_end) of a row of tiles at a time: level 0 from the
  // image rows of each plane (returns bytes), the levels that tiles make by themselves, and last the coarser ones.
  std::int64_t write_tiles(std::span<const TileRow> planes, int ty, int tx_begin, int tx_end);
  void refresh_tiles(int ty, int tx_begin, int tx_end);
  void refresh_coarse();

  // Borrowed; contents change with upload and refresh_mips. Throws std::out_of_range.
  LevelView level_view(int plane, int level) const;

 private:
  struct Level {
    std::uint8_t* data = nullptr;
    std::ptrdiff_t pitch = 0;
    int width = 0;
    int height = 0;
  };
  // Exact sums, row-major, channels interleaved: of tiles, and (sums[k], k >= 1) of squares of 2^k x 2^k tiles.
  struct Plane {
    std::vector<Level> levels;
    std::vector<LevelView> views;
    std::vector<std::uint32_t> tile_sums;
    std::vector<std::vector<std::uint64_t>> sums;
    TexelKind kind = TexelKind::k8x1;
    int tile_levels = 4;  // log2 of the tile size: levels a tile makes by itself
  };
  struct Storage {
    void operator()(std::uint8_t* bytes) const;
  };

  int coarse_steps() const { return layout_.levels - 1 - 4; }  // levels coarser than a luma tile
  void allocate();
  void make_sums();
  template <typename Pack>
  std::int64_t write_run(int plane, int ty, int tx_begin, int tx_end, const Pack& pack);
  void refresh_run(int plane, int ty, int tx_begin, int tx_end);
  void refresh_coarse_level(int step);
  void refresh_squares(int plane, int step);
  void mark(int step, int x, int y);

  PyramidLayout layout_;
  CpuOps ops_;
  std::unique_ptr<std::uint8_t[], Storage> storage_;
  std::array<Plane, 2> planes_;
  // dirty[k], k >= 1: squares of 2^k x 2^k tiles whose coarser texels are out of date. Empty between calls.
  std::vector<std::vector<std::uint8_t>> dirty_;
  std::vector<TexelPosition> squares_;  // those of the level being refreshed
  std::vector<std::uint8_t> scratch_;   // one row, for the levels that tiles make and the texture does not have
};

}  // namespace saccade
