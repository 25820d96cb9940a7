// Reads drawn pictures back, through page-locked memory where a GPU draws.
#pragma once

#include <memory>

#include "gpu/gl/context.h"
#include "ui/viewer/canvas.h"
#include "ui/web/jpeg.h"

namespace saccade::ui {

// One thread, the GL context's. Waits for the picture: the next one is drawn when a page asks for it, so a ring of
// buffers would only make what is sent older.
class FrameReader {
 public:
  explicit FrameReader(const gl::Context& context) : software_(context.capabilities().software) {}
  // Bound for drawing.
  void bind(int width_px, int height_px);
  // What was drawn since. Throws gl::GlError where the GPU hangs.
  void read(GlPicture& picture);

 private:
  const bool software_;  // the CPU draws: a pixel buffer would only cost a copy
  int width_px_ = 0, height_px_ = 0;
  std::unique_ptr<Canvas> canvas_;
  gl::Buffer buffer_;
};

}  // namespace saccade::ui
