// An optional third seam: a backend that diffs, writes and makes all levels in one go says so here.
#pragma once

#include <cstdint>

#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/tile_differ.h"

namespace saccade {

// The same texture and the same damage, bit for bit, as TileDiffer::diff, Pyramid::upload and Pyramid::refresh_mips in
// turn, which stay the reference. Same thread and lifetime rules as theirs.
class FusedUpdate {
 public:
  virtual ~FusedUpdate() = default;

  // Waits for the damage, not for the levels. The Damage is valid until the next call.
  virtual const Damage& update(const FrameView& frame) = 0;
  virtual std::int64_t bytes_written() const = 0;  // into level 0, by the last update
  virtual void damage_everything() = 0;            // at the next update
  virtual void configure(const DiffConfig& config) = 0;
};

}  // namespace saccade
