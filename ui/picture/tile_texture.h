// A byte a tile of the frame, as a texture for the views that colour tiles.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/gl/objects.h"
#include "kernels/pyramid_layout.h"

namespace saccade::ui {

// R8, row-major, origin top-left. One thread, the GL context's.
class TileTexture {
 public:
  void upload(TileGrid grid, std::span<const std::uint8_t> values);
  const gl::Texture& texture() const { return texture_; }  // of the last upload()

 private:
  gl::Texture texture_;
  TileGrid grid_;
};

}  // namespace saccade::ui
