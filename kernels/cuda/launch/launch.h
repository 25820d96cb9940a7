// The kernels of the CUDA backend as functions that launch them on the current device, and what they are given: by
// value. Nothing here waits.
#pragma once

#include <cstdint>

#include "gpu/cuda/stream.h"
#include "kernels/frame_view.h"
#include "kernels/patch_batch.h"
#include "kernels/pyramid_layout.h"
#include "kernels/shared/color.h"

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

// Where level-0 samples come from: a frame in memory that the device can read, or packed tiles in device memory.
struct SourceParams {
  const std::uint8_t* plane[3];
  long long pitch[3];     // bytes
  int shift;              // left shift of 16-bit samples
  int alignment;          // bytes that divide all pointers and pitches (packed: and tile_stride): 16, 4 or 1
  long long tile_stride;  // packed: bytes from tile to tile; plane[p] is then tile 0's part of plane p
};

struct DiffParams {
  std::uint32_t threshold;  // in sample units
  std::uint32_t min_samples;
  std::uint32_t noise_floor;  // in sample units
  int everything;             // every tile is damaged, with energy 0
};

// Compares every tile of the image with level 0 and writes `tiles`. With `write`: the fused update, which also brings
// level 0 and all its levels up to date, in one launch (padding beyond the last block and levels above 6:
// up to two more).
void launch_update(PixelLayout layout, const TextureParams& texture, const SourceParams& frame, const DiffParams& diff,
                   bool write, std::uint32_t* tiles, cudaStream_t stream);

struct ApplyParams {
  const std::uint32_t* tiles = nullptr;  // which tiles are damaged, and of packed tiles the slots
  bool packed = false;                   // the source is packed tiles, not a frame; never planar
  bool write = true;                     // level 0; otherwise the source is not looked at
  bool refresh = true;                   // the levels above
};

// The staged form: writes the tiles marked damaged, refreshes their levels, or both in one launch.
void launch_apply(PixelLayout layout, const TextureParams& texture, const SourceParams& source,
                  const ApplyParams& apply, cudaStream_t stream);

// A frame's planes, chroma interleaved and samples aligned to the top, edges repeated into the padding: as level 0 has
// them, rows packed.
struct PaddedCopy {
  struct Plane {
    std::uint8_t* to;
    int width, height;  // padded texels
    int image_width, image_height;
  };
  Plane plane[2];
};
void launch_padded_copy(PixelLayout layout, const SourceParams& frame, const PaddedCopy& copy, cudaStream_t stream);

// A held picture (kernels/held_picture.h), and what becomes of it.
struct HeldParams {
  PlaneSurfaces plane;   // luma or RGBA
  PlaneSurfaces chroma;  // Cb and Cr, or RGBA
  int tile_cols;         // of the image
  int tile_count;
  int levels;                    // of squares
  std::uint32_t noise;           // of ErrorMeasure, 0 to 255, in each of four bytes
  const std::uint8_t* changes;   // of each tile: kernels/shared/held.h
  const std::uint32_t* changed;  // a bit a tile, from the lowest on: kTileChanged
  std::uint8_t* held;            // luma, padded as level 0
  long long pitch;               // of `held`: bytes, a multiple of 16
  std::uint16_t* held_chroma;    // of each tile, Cr in the upper byte; null: its error does not count
  std::uint32_t* errors;         // level after level, of each tile: written near what changes. The host's
};
void launch_held(TextureFormat format, const HeldParams& params, int power, cudaStream_t stream);

// A patch to sample. pitch_px 0: no coverage.
struct PatchRecord {
  float x_px, y_px, lod, pitch_px;
};

struct SampleParams {
  PlaneSurfaces plane[2];
  unsigned long long texture[2];
  int width[2];  // padded texels of level 0
  int height[2];
  float inverse_width[2];
  float inverse_height[2];
  shared::ColorParams color;  // for code values, or for 0..1 when `hardware`
  float site_shift_x, site_shift_y;
  float mean[3], inv_std[3];
  const PatchRecord* patches;
  void* out;  // count x 3 x size x size
  int count;
  int size;
  SampleType type;
  bool hardware;      // the texture unit's filter (8-bit weights) in place of fetch and lerp
  bool early_launch;  // start before the launch before has ended, and wait on the device (compute capability 9.0 on)
};

// Whether the sampler that this device runs was compiled for compute capability 9.0 or later, and so waits for the
// launch before it by itself: the compiled code counts, not the device. Throws CudaError where this build has no code
// for it.
bool sampler_can_wait(int device);

void launch_sample(TextureFormat format, const SampleParams& params, cudaStream_t stream);

}  // namespace saccade::cuda
