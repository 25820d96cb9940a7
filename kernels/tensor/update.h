// A persistent texture of tensors: what differs in a new frame is written to level 0, and the levels above it follow.
// After an update the levels are those of a rebuild, bit for bit.
#pragma once

#include "kernels/shared/tile.h"
#include "kernels/tensor/reduce.h"

namespace saccade::tensor {

using shared::kTilePx;
using shared::tiles_across;

enum class UpdateMask : std::int32_t {
  kDiff = 0,    // tiles in which the frame differs from level 0
  kPixels = 1,  // the pixels that a mask [B, H, W] names
  kTiles = 2    // the tiles that a mask [B, rows, cols] names
};

struct UpdateArgs {
  ReduceArgs texture;  // level 0 is read and written; the workspace is kept from one update to the next
  ArrayView frame;     // [B, C, H, W] of the texture's dtype; no data: level 0 is already new, as the mask says
  UpdateMask mask = UpdateMask::kDiff;
  const std::uint8_t* mask_data = nullptr;  // not 0: it counts
  std::int64_t mask_b = 0, mask_y = 0, mask_x = 0;
  double threshold = 0;           // a sample, a channel of a pixel, differs by more than this, in the frame's own unit
  std::int32_t min_samples = 0;   // more than so many differ in a damaged tile
  std::uint8_t* tiles = nullptr;  // [B, rows, cols], written: 1 where a tile was damaged
  float* energy = nullptr;  // [B, rows, cols], written: sum of |differences| of a damaged tile, else 0; may be null
};

namespace cpu {
// On up to `threads` threads, which change no bit.
void update(const UpdateArgs& args, int threads = 1);
}  // namespace cpu

namespace cuda {
// `stream`: a cudaStream_t of the current device. Throws when the launch fails. More than one launch only beyond
// level 6, and where a batch or a height is larger than a grid.
void update(const UpdateArgs& args, void* stream);
}  // namespace cuda

}  // namespace saccade::tensor
