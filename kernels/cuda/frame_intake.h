// Frames and their damaged tiles on their way to kernels: where they lie, or by a copy on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/upload_ring.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// A frame that the device can read where it lies.
SourceParams source_of(const FrameView& frame);

// For frames of one size and format. Copies are queued in `stream`, the texture's own; the device must be the current
// one. Memory for host frames is taken by the first of them, or by reserve(). Throws CudaError.
class FrameIntake {
 public:
  FrameIntake(const PyramidLayout& layout, int device, cudaStream_t stream);
  void reserve();  // for any host frame of this size

  // Throws std::invalid_argument unless the frame fits and this device can read it.
  void check(const FrameView& frame) const;
  // Later work of `stream` runs after what the frame's own stream has queued so far.
  void follow(const FrameView& frame);

  // All of a frame: host frames are copied to the device.
  SourceParams whole(const FrameView& frame);
  // Whether the last whole() reads the frame's own memory, not a copy that was made before it returned.
  bool reads_frame() const { return reads_frame_; }
  void forget_frame() { reads_frame_ = false; }

  // A table of damaged tiles on the device, for launch_apply.
  const std::uint32_t* table(const Damage& damage);
  struct Tiles {
    PixelLayout layout;
    SourceParams source;
    const std::uint32_t* table;
    bool packed;  // the source is packed tiles
  };
  // The damaged tiles of a frame and their table, by the cheapest way: packed, read in place, or of whole planes.
  Tiles tiles(const FrameView& frame, const Damage& damage);

 private:
  std::uint32_t* begin_table();
  Tiles pack(const FrameView& frame, const Damage& damage);

  PyramidLayout layout_;
  int device_;
  cudaStream_t stream_;
  std::size_t chroma_offset_;  // in a packed tile, after luma or RGBA
  std::size_t tile_bytes_;
  std::size_t table_bytes_;   // a word an image tile
  std::size_t packed_bytes_;  // the table and all tiles
  UploadRing uploads_;
  CudaBuffer packed_;  // the table, then packed tiles
  CudaBuffer copy_;    // of a frame
  CudaEvent frame_made_;
  bool reads_frame_ = false;
};

}  // namespace saccade::cuda
