// Frames in device memory rotated upright.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/frame_view.h"

namespace saccade {

// Device memory of a picture of its own; plane 1 is interleaved chroma.
struct DevicePlanes {
  std::uint8_t* plane[2] = {};
  std::ptrdiff_t pitch_bytes[2] = {};
};

// Rows become columns, then the mirrors.
struct FrameRotation {
  bool transpose = false;
  bool hflip = false;
  bool vflip = false;
};

// `from`: NV12 or P016 of even size, on a device. `to`: on the same one, width and height exchanged with `transpose`.
// Queued in the stream in which `from` is written, and waited for: `from` may go back to its decoder. Throws CudaError
// and std::invalid_argument.
void rotate_frame(const FrameView& from, const DevicePlanes& to, const FrameRotation& rotation);

}  // namespace saccade
