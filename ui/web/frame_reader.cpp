#include "ui/web/frame_reader.h"

#include <cstring>

namespace saccade::ui {

void FrameReader::bind(int width_px, int height_px) {
  if (!canvas_ || width_px != width_px_ || height_px != height_px_) {
    canvas_ = std::make_unique<Canvas>(width_px, height_px);
    width_px_ = width_px;
    height_px_ = height_px;
    const auto bytes = std::int64_t{4} * width_px * height_px;
    if (!software_) buffer_ = gl::Buffer(bytes, GL_MAP_READ_BIT | GL_CLIENT_STORAGE_BIT);
  }
  canvas_->bind();
}

void FrameReader::read(GlPicture& picture) {
  picture.width_px = width_px_;
  picture.height_px = height_px_;
  picture.rgba.resize(static_cast<std::size_t>(width_px_) * static_cast<std::size_t>(height_px_) * 4);
  gl::forget_errors();
  if (software_) {
    gl::Sync::fence().finish("drawing");
    glReadPixels(0, 0, width_px_, height_px_, GL_RGBA, GL_UNSIGNED_BYTE, picture.rgba.data());
    return gl::check("glReadPixels");
  }
  glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.name());
  glReadPixels(0, 0, width_px_, height_px_, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  gl::Sync::fence().finish("drawing");
  const void* mapped =
      glMapNamedBufferRange(buffer_.name(), 0, static_cast<GLsizeiptr>(picture.rgba.size()), GL_MAP_READ_BIT);
  if (mapped != nullptr) {
    std::memcpy(picture.rgba.data(), mapped, picture.rgba.size());
    glUnmapNamedBuffer(buffer_.name());
  }
  gl::check("glMapNamedBufferRange");
}

}  // namespace saccade::ui
