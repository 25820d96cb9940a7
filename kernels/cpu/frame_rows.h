// Rows of a frame's plane in the texture's own form: chroma interleaved, 16-bit samples aligned to the top.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/frame_view.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

// Throws std::invalid_argument when the frame is not in host memory or differs in size or format from the texture.
void check_frame(const FrameView& frame, const PyramidLayout& layout);

// Borrows the frame and the table. plane: 0 luma or RGBA, 1 chroma.
class FrameRows {
 public:
  FrameRows(const FrameView& frame, int plane, const CpuOps& ops);

  // Rows can be read in place.
  bool direct() const { return form_ == Form::kDirect; }
  const std::uint8_t* direct_row(int y) const { return first_.data + y * first_.pitch_bytes; }
  std::ptrdiff_t direct_pitch() const { return first_.pitch_bytes; }

  // Writes n texels from (x, y) on.
  void pack(int x, int y, int n, std::uint8_t* out) const;

 private:
  enum class Form : std::uint8_t { kDirect, kInterleave8, kInterleave16, kShift16 };
  const CpuOps& ops_;
  Form form_ = Form::kDirect;
  PlaneView first_;
  PlaneView second_;
  int shift_ = 0;
  int channels_ = 1;
  int texel_bytes_ = 1;
};

// The image rows of one row of tiles.
struct TileRow {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  int rows = 0;  // fewer than a tile's at the bottom
  const std::uint8_t* row(int y) const { return data + y * pitch; }
};

// Reads rows of tiles: in place where the frame has the texture's form, else packed, once, into a buffer of its own.
class TileRowReader {
 public:
  explicit TileRowReader(const PyramidLayout& layout);
  TileRow read(const FrameView& frame, int plane, int ty, const CpuOps& ops);  // until the next read of that plane

 private:
  std::array<PlaneLayout, 2> planes_;
  std::array<std::vector<std::uint8_t>, 2> packed_;
};

}  // namespace saccade
