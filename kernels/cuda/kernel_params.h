// What the kernels of the CUDA backend are given. Passed by value.
#pragma once

#include <cstdint>

#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// Per image tile, row-major: kTileDamaged | energy as a kernel measured it, or kTileDamaged | slot of a packed tile.
// 0: not damaged. Energies stay below 2^24.
inline constexpr std::uint32_t kTileDamaged = 0x80000000U;

// Surface handles of one plane, by level.
struct PlaneSurfaces {
  unsigned long long level[kMaxLevels];
  int levels;
  int image_width;  // texels of level 0 that hold image
  int image_height;
  int pad0;
};

struct TextureParams {
  PlaneSurfaces plane[2];  // luma or RGBA; chroma
  int tile_cols;           // of the image
  int tile_rows;
  int padded_tile_cols;
  int padded_tile_rows;
  std::uint32_t* tile_sums;  // per padded tile, 4 words: luma, cb, cr, -; or r, g, b, a
};

// Steps of SourceParams::alignment.
inline constexpr int kStripAlignment = 16;  // a thread reads its part of a row at once
inline constexpr int kWordAlignment = 4;    // by words; below: sample by sample

// Where level-0 samples come from: a frame in memory that the card can read, or packed tiles in device memory.
struct SourceParams {
  const std::uint8_t* plane[3];
  long long pitch[3];     // bytes
  int shift;              // left shift of 16-bit samples
  int alignment;          // bytes that divide all pointers and pitches (packed: and tile_stride): 16, 4 or 1
  long long tile_stride;  // packed: bytes from tile to tile; plane[p] is then tile 0's part of plane p
};

struct DiffParams {
  std::uint32_t threshold;  // in sample units
  std::uint32_t min_pixels;
  std::uint32_t noise_floor;  // in sample units
  int everything;             // every tile is damaged, with energy 0
};

}  // namespace saccade::cuda
