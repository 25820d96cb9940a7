// Memory of a caller's own that an emission is written into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/frame_view.h"
#include "kernels/patch_batch.h"

namespace saccade {

// All pointers are of `space`; null: not wanted, but for `patches`.
struct PatchTarget {
  MemorySpace space = MemorySpace::kHost;
  int device = 0;          // kCuda: by CUDA's ordinal
  void* stream = nullptr;  // kCuda: the cudaStream_t in whose order this memory is the caller's
  SampleFormat format;
  std::byte* patches = nullptr;           // N x 3 x S x S of `format`
  float* geometry = nullptr;              // N x 4: u, v, lod, coverage
  std::uint8_t* changed = nullptr;        // N
  std::int32_t* damaged_tiles = nullptr;  // 1
};

}  // namespace saccade
