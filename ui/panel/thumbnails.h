// Small pictures of the pyramid's levels.
#pragma once

#include "gpu/gl/objects.h"
#include "ui/panel/overlay_text.h"
#include "ui/picture/frame_renderer.h"
#include "ui/picture/view_state.h"

namespace saccade::ui {

// One thread, the GL context's, which is current. Redraws when another frame or other settings are shown.
class Thumbnails {
 public:
  // Into the ImGui window that is begun; a click on one shows its level. Leaves GL's framebuffer as it was.
  void draw(ViewSettings& settings, const ViewFacts& facts, const Note& note);

 private:
  void resize(int levels, int width_px, int height_px);
  void render(const ViewFacts& facts, const PictureSize& size);
  PixelBox cell(int level) const;  // of the sheet, y down

  FrameRenderer renderer_;
  gl::Texture sheet_;  // a column of pictures, one a level
  gl::Framebuffer framebuffer_;
  int levels_ = 0;
  int width_px_ = 0, height_px_ = 0;  // of one
  int source_ = 0;
  std::int64_t frame_ = -1, pts_ns_ = 0;
  const DrawableTexture* pyramid_ = nullptr;
};

}  // namespace saccade::ui
