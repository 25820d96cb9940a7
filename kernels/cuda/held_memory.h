// What a held picture needs on a device and on the way there. A texture keeps it from one picture to the next: taking
// and freeing such memory makes all others on the device wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/upload_ring.h"

namespace saccade::cuda {

struct HeldMemory {
  HeldMemory(int device, std::size_t luma_bytes, std::size_t tiles, std::size_t change_bytes, std::size_t errors_count)
      : held(device, luma_bytes),
        held_chroma(device, tiles * sizeof(std::uint16_t)),
        changes(device, change_bytes),
        uploads(device, 3),
        errors(device, errors_count * sizeof(std::uint32_t)),
        measured(device) {
    uploads.reserve(change_bytes);
  }

  CudaBuffer held;         // luma
  CudaBuffer held_chroma;  // of tiles
  CudaBuffer changes;      // what becomes of tiles
  UploadRing uploads;
  PinnedBuffer errors;
  CudaEvent measured;
};

}  // namespace saccade::cuda
