#include "ui/picture/tile_texture.h"

namespace saccade::ui {

void TileTexture::upload(TileGrid grid, std::span<const std::uint8_t> values) {
  if (values.empty()) return;
  if (grid_ != grid) {
    texture_ = gl::Texture(GL_R8, grid.cols, grid.rows, 1);
    texture_.set_parameter(GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    texture_.set_parameter(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    grid_ = grid;
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTextureSubImage2D(texture_.name(), 0, 0, 0, grid.cols, grid.rows, GL_RED, GL_UNSIGNED_BYTE, values.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

}  // namespace saccade::ui
