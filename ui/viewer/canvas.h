// A picture of what a person sees, drawn where no window is.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gl/objects.h"

namespace saccade::ui {

// 8-bit R'G'B', interleaved, tightly packed rows, origin top-left.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

// One thread, the GL context's.
class Canvas {
 public:
  Canvas(int width_px, int height_px);
  void bind() const { framebuffer_.bind(); }
  Picture read() const;  // throws gl::GlError where it was not drawn

 private:
  int width_px_, height_px_;
  gl::Texture color_;
  gl::Framebuffer framebuffer_;
};

}  // namespace saccade::ui
