// The memory of places on the device: when tiles were damaged and places emitted, so that what changed is known without
// the host. See pipeline/run/changed/patch_history.h for the rule.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "kernels/device_texture.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// Where an emission's facts go; null: not wanted.
struct EmissionFacts {
  const PlaceRecord* places = nullptr;  // count, device memory
  int count = 0;
  std::uint8_t* changed = nullptr;
  std::int32_t* damaged_tiles = nullptr;
};

// Everything is queued in `stream`, which stays the same; the device must be the current one. Throws CudaError.
class DevicePlaces {
 public:
  DevicePlaces(int device, const PyramidLayout& layout, cudaStream_t stream);
  void reserve(std::size_t places, cudaStream_t stream);  // more make all of them unknown
  // tiles: a word an image tile, 0 where it is not damaged.
  void note(const std::uint32_t* tiles, cudaStream_t stream);
  void reserve_slots(std::size_t bytes);
  void mark(const EmissionFacts& facts, cudaStream_t stream);
  // After mark(), and once the patches are there: takes a mark back where the bytes are those last kept in the patch's
  // slot, and keeps them. patches: count x patch_bytes, device memory.
  void compare(const EmissionFacts& facts, const std::byte* patches, std::size_t patch_bytes, cudaStream_t stream);
  DeviceTotals totals(cudaStream_t stream);  // waits

 private:
  std::uint8_t* marks(const EmissionFacts& facts);

  int device_;
  TileGrid tiles_;
  TileGrid padded_;
  std::int64_t tile_bytes_;
  CudaBuffer counters_;    // the clock, then the totals, then the last update's damaged tiles: 64 bits each
  CudaBuffer damaged_at_;  // per image tile: the clock at its last damage
  CudaBuffer emitted_;     // per place: the clock at its last emission
  CudaBuffer kept_;        // per slot: the bytes of a patch
  CudaBuffer marks_;       // per patch: what changed, for a caller who doesn't want it
  PinnedBuffer totals_host_;
};

}  // namespace saccade::cuda
