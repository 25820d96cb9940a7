#include "ui/viewer/canvas.h"

#include <cstddef>
#include <cstring>

namespace saccade::ui {

Canvas::Canvas(int width_px, int height_px)
    : width_px_(width_px), height_px_(height_px), color_(GL_RGBA8, width_px, height_px, 1), framebuffer_(color_, 0) {}

Picture Canvas::read() const {
  bind();
  Picture picture{width_px_, height_px_, {}};
  const std::size_t row_bytes = static_cast<std::size_t>(width_px_) * 3;
  std::vector<std::uint8_t> rows(row_bytes * static_cast<std::size_t>(height_px_));
  gl::Sync::fence().finish("drawing");
  gl::forget_errors();
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_px_, height_px_, GL_RGB, GL_UNSIGNED_BYTE, rows.data());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  gl::check("glReadPixels");
  picture.rgb.resize(rows.size());
  for (std::size_t y = 0; y < static_cast<std::size_t>(height_px_); ++y) {  // GL's first row is the lowest
    const std::size_t from = static_cast<std::size_t>(height_px_) - 1 - y;
    std::memcpy(picture.rgb.data() + y * row_bytes, rows.data() + from * row_bytes, row_bytes);
  }
  return picture;
}

}  // namespace saccade::ui
