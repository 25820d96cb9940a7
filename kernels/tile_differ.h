// The first seam: which tiles of the texture does a frame change?
#pragma once

#include "kernels/damage.h"
#include "kernels/frame_view.h"

namespace saccade {

struct DiffConfig {
  int threshold =
      0;  // a sample differs when |frame - texture| > threshold, in 8-bit code values (16-bit samples: x 256)
  int min_pixels = 0;   // a tile is damaged when more than this many of its samples (all planes, all channels) differ
  int noise_floor = 8;  // subtracted from each difference that counts as motion energy, in 8-bit code values
  bool operator==(const DiffConfig&) const = default;
};

// Compares a frame with the texture's level 0 itself (or its exact shadow), never with the previous frame: so with
// min_pixels 0 texture and frame never differ by more than `threshold`. One thread; per-frame calls allocate nothing.
class TileDiffer {
 public:
  virtual ~TileDiffer() = default;

  // The returned Damage belongs to the differ and is valid until the next call. The frame must have the texture's
  // size and format (std::invalid_argument otherwise).
  virtual const Damage& diff(const FrameView& frame) = 0;

  // The next diff() reports every tile: first frame, seek, failed upload. Energies are 0 then.
  virtual void damage_everything() = 0;

  virtual void configure(const DiffConfig& config) = 0;
};

}  // namespace saccade
