// Rows of a frame's plane in the texture's own form: chroma interleaved, 16-bit samples aligned to the top.
#pragma once

#include <cstdint>

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

}  // namespace saccade
