// The comparison of frames with level 0.
#pragma once

#include <cstdint>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/damage.h"
#include "kernels/texture.h"

namespace saccade::cuda {

// What a diff finds stays on the device, a word a tile, until it is asked for. Work is queued in `stream`, the
// texture's own; the device must be the current one. Throws CudaError.
class TileDiffer {
 public:
  TileDiffer(const PyramidLayout& layout, const DiffConfig& config, int device, cudaStream_t stream);

  void configure(const DiffConfig& config) { config_ = config; }
  void damage_everything() { everything_next_ = true; }
  void start_over(const DiffConfig& config);  // nothing is queued

  // Queues launch_update. write: also brings level 0 and all its levels up to date.
  void diff(PixelLayout layout, const TextureParams& texture, const SourceParams& frame, bool write);
  const Damage& damage();  // of the last diff; the first call waits for it
  std::uint32_t* tiles() const { return tiles_.as<std::uint32_t>(); }

 private:
  DiffConfig config_;
  bool wide_;
  cudaStream_t stream_;
  CudaBuffer tiles_;  // as the last diff wrote them
  PinnedBuffer tiles_host_;
  CudaEvent read_;
  Damage damage_;
  bool everything_next_ = true;  // the next diff damages everything
  bool everything_ = false;      // the last one did
  bool fetched_ = true;          // damage_ is that of the last diff
};

}  // namespace saccade::cuda
