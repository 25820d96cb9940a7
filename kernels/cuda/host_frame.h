// Frames in host memory on their way to the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/frame_view.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// The planes of a frame: how many, and how many bytes of a row and rows each has.
struct FramePlanes {
  int count = 0;
  std::size_t row_bytes[3] = {};
  std::size_t rows[3] = {};
};
FramePlanes planes_of(const FrameView& frame);

// The layout of packed tiles of such frames: chroma interleaved.
PixelLayout packed_layout(PixelLayout layout);

// Writes image tile (tx, ty): 16x16 luma or RGBA texels, then, from chroma_offset on, 8x8 interleaved chroma texels.
// Samples outside the image are left as they are.
void pack_tile(const FrameView& frame, int tx, int ty, std::size_t chroma_offset, std::uint8_t* out);

// Whether the device can read all planes in place.
bool frame_is_pinned(const FrameView& frame);

}  // namespace saccade::cuda
