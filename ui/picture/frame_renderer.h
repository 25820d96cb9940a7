// Draws a view of the persistent texture into the framebuffer that is bound.
#pragma once

#include <array>
#include <span>

#include "gpu/gl/objects.h"
#include "kernels/drawable_texture.h"
#include "kernels/patch_plan.h"
#include "kernels/shared/fovea.h"
#include "ui/picture/patch_painter.h"
#include "ui/picture/picture_mapping.h"
#include "ui/picture/pixel_rects.h"
#include "ui/picture/tile_texture.h"

namespace saccade::ui {

// What a picture is made of. Borrowed for the call.
struct Scene {
  const DrawableTexture* pyramid = nullptr;  // null: nothing to show yet
  ColorSpec color;
  PictureSize size;
  shared::FoveaParams fovea{};
  float coarsest_lod = 0;  // of the patches
  float fix_x_px = 0, fix_y_px = 0;
  const TileTexture* tiles = nullptr;  // of views damage, held, error and weights
  const gl::Texture* held = nullptr;   // of view held
  const PatchPainter* patches = nullptr;
};

// Colours of the heat map, evenly spaced from lod 0 to lod_range: R'G'B'A.
inline constexpr std::array<std::array<float, 4>, 5> kHeatStops{{{0.16f, 0.18f, 0.55f, 1},
                                                                 {0.12f, 0.60f, 0.75f, 1},
                                                                 {0.35f, 0.75f, 0.35f, 1},
                                                                 {0.95f, 0.82f, 0.25f, 1},
                                                                 {0.85f, 0.22f, 0.18f, 1}}};

float coarsest_lod(const PatchPlan& plan);  // of the patches that show something of the frame

// A whole lod that no place of the frame and no patch exceeds, wherever the fixation is: what the last colour stands
// for. Patches may be coarser than lod(e) asks for: a budget of tokens may pay for no finer ring.
float lod_range(const PictureSize& size, const shared::FoveaParams& fovea, float coarsest_lod);

// One thread, the GL context's. A shader is compiled when it is first drawn with; after that drawing allocates nothing.
class FrameRenderer {
 public:
  FrameRenderer();
  // The whole framebuffer that is bound, in the colour around the picture.
  void clear(int window_width_px, int window_height_px) const;
  // The picture as `view` has it, as far as it lies inside `visible`: rectangles of the window that nothing covers.
  void draw(const Scene& scene, const ViewSettings& settings, View view, const PictureMapping& mapping,
            int window_width_px, int window_height_px, std::span<const PixelBox> visible) const;

 private:
  void use(const Scene& scene, const ViewSettings& settings, View view, const PictureMapping& mapping,
           int window_height_px) const;
  const gl::Program& program(View view, bool yuv, bool nearest) const;

  mutable std::array<std::array<gl::Program, 4>, kViewCount> programs_;  // by View, and as program() counts
  gl::VertexArray no_vertices_;
  gl::Buffer params_;
};

}  // namespace saccade::ui
