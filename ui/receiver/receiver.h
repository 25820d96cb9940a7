// What the receiver of lattice `adaptive` has, as textures for views `held`, `error` and `weights`. What is held where
// is the allocator's to say: here only the colours of its tokens are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gl/objects.h"
#include "kernels/pyramid_layout.h"
#include "pipeline/gaze/allocate/allocator.h"
#include "ui/picture/patch_painter.h"
#include "ui/picture/tile_texture.h"
#include "ui/picture/view.h"

namespace saccade::ui {

// One thread, the GL context's.
class Receiver {
 public:
  // After each look: paints what it sent over what was there. size: the frame's.
  void add(const PatchPainter& tokens, PictureSize size);
  // For a view of the frame that is shown: of each tile whether anything is held (255), or its shade. Waits for the
  // device if the view shows errors.
  void update(View view, Allocator& allocator, TileGrid grid, std::int64_t pts_ns, float fix_u, float fix_v);

  // The tokens' samples, each a square of one colour, a texel a pixel of the frame. Null before add().
  const gl::Texture* picture();
  const TileTexture& tiles() const { return tiles_; }

 private:
  gl::Texture picture_;
  gl::Framebuffer framebuffer_;
  int width_px_ = 0, height_px_ = 0;
  bool shrunk_ = false;  // the levels above the picture follow from it
  TileTexture tiles_;
  std::vector<std::uint8_t> values_;
};

}  // namespace saccade::ui
