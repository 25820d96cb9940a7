// The kernels of the CUDA backend as functions that launch them. Nothing here waits.
#pragma once

#include "gpu/cuda/stream.h"
#include "kernels/cuda/kernel_params.h"
#include "kernels/frame_view.h"
#include "kernels/patch_batch.h"
#include "kernels/shared/color.h"

namespace saccade::cuda {

// Compares every tile of the image with level 0 and writes `tiles`. With `write`: the fused update, which also brings
// level 0 and all its levels up to date, in one launch (padding beyond the last block and levels above 6: up to two
// more).
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

// A frame that the card can read where it lies.
SourceParams source_of(const FrameView& frame);

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
  bool early_launch;  // start before the launch before has ended, and wait on the card (compute capability 9.0 on)
};

// Whether the sampler that this card runs was compiled for compute capability 9.0 or later, and so waits for the launch
// before it by itself: the compiled code counts, not the card. Throws CudaError where this build has no code for the
// card.
bool sampler_can_wait();

void launch_sample(TextureFormat format, const SampleParams& params, cudaStream_t stream);

}  // namespace saccade::cuda
