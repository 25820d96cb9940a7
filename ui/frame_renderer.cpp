#include "ui/frame_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "ui/shaders.h"

namespace saccade::ui {
namespace {

constexpr float kBackground = 0.07f;

// As in view_frag.glsl, std140.
struct Params {
  shared::ColorParams color;
  shared::FoveaParams fovea;
  std::array<float, 2> fixation_px, site_shift, origin, scale, plane0_texel, plane1_texel;
  std::array<std::array<float, 4>, kHeatStops.size()> heat_stops;
  float window_height, shrink_lod, level, seam_px, lod_range;
  std::int32_t view, nearest, pad0;
};
static_assert(sizeof(Params) == 224 && offsetof(Params, fixation_px) == 64 && offsetof(Params, heat_stops) == 112 &&
              offsetof(Params, window_height) == 192 && offsetof(Params, view) == 212);

std::array<float, 2> texel_of(const PlaneLayout& plane) {
  return {1.0f / static_cast<float>(plane.width), 1.0f / static_cast<float>(plane.height)};
}

// The level whose texels are about a window's pixel.
float shrink_lod(const PictureMapping& mapping, float max_lod) {
  const float scale = std::min(mapping.scale_x, mapping.scale_y);
  return scale > 0 ? std::clamp(-std::log2(scale), 0.0f, max_lod) : max_lod;
}

Params make_params(const Scene& scene, const ViewSettings& settings, const PictureMapping& mapping, int height) {
  const PyramidLayout& layout = scene.pyramid->layout();
  const auto max_lod = static_cast<float>(layout.levels - 1);
  Params p{};
  p.color = make_color_params(scene.color, 1.0f);
  p.fovea = scene.fovea;
  p.fixation_px = {scene.fix_x_px, scene.fix_y_px};
  p.site_shift = {scene.color.site_shift_x, scene.color.site_shift_y};
  p.origin = {mapping.origin_x, mapping.origin_y};
  p.scale = {mapping.scale_x, mapping.scale_y};
  p.plane0_texel = texel_of(layout.planes[0]);
  p.plane1_texel = texel_of(layout.planes[layout.plane_count > 1 ? 1 : 0]);
  p.heat_stops = kHeatStops;
  p.window_height = static_cast<float>(height);
  p.shrink_lod = shrink_lod(mapping, max_lod);
  p.level = std::clamp(static_cast<float>(settings.level), 0.0f, max_lod);
  const auto picture_width = static_cast<float>(scene.size.width_px);
  p.seam_px = std::round(mapping.to_window_x(settings.split * picture_width));
  p.lod_range = lod_range(scene.size, scene.fovea);
  p.view = static_cast<std::int32_t>(settings.view);
  p.nearest = settings.linear ? 0 : 1;
  return p;
}

// Keeps drawing inside the picture; GL's rows count from the bottom.
void scissor_to_picture(const Scene& scene, const PictureMapping& mapping, int window_height) {
  const int left = static_cast<int>(std::lround(mapping.origin_x));
  const int top = static_cast<int>(std::lround(mapping.origin_y));
  const int right = static_cast<int>(std::lround(mapping.to_window_x(static_cast<float>(scene.size.width_px))));
  const int bottom = static_cast<int>(std::lround(mapping.to_window_y(static_cast<float>(scene.size.height_px))));
  glEnable(GL_SCISSOR_TEST);
  glScissor(left, window_height - bottom, std::max(right - left, 0), std::max(bottom - top, 0));
}

}  // namespace

FrameRenderer::FrameRenderer()
    : yuv_(make_drawing_program("view", "#define YUV 1\n")),
      rgba_(make_drawing_program("view", "#define YUV 0\n")),
      no_vertices_(gl::VertexArray::create()),
      params_(sizeof(Params), GL_DYNAMIC_STORAGE_BIT) {}

float lod_range(const PictureSize& size, const shared::FoveaParams& fovea) {
  const float e =
      shared::eccentricity(static_cast<float>(size.width_px), static_cast<float>(size.height_px), 0, 0, fovea);
  return std::max(std::ceil(shared::level_of_detail(e, fovea)), 1.0f);
}

void FrameRenderer::draw(const Scene& scene, const ViewSettings& settings, const PictureMapping& mapping,
                         int window_width_px, int window_height_px) const {
  glViewport(0, 0, window_width_px, window_height_px);
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  glClearColor(kBackground, kBackground, kBackground, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  if (scene.pyramid == nullptr) return;
  scissor_to_picture(scene, mapping, window_height_px);
  if (settings.view == View::kPatches) {
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (scene.patches != nullptr) scene.patches->draw(mapping, window_width_px, window_height_px);
  } else {
    const Params params = make_params(scene, settings, mapping, window_height_px);
    glNamedBufferSubData(params_.name(), 0, sizeof(Params), &params);
    const bool yuv = scene.pyramid->layout().plane_count > 1;
    (yuv ? yuv_ : rgba_).use();
    no_vertices_.bind();
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, params_.name());
    glBindTextureUnit(0, scene.pyramid->plane(0).texture.name());
    if (yuv) glBindTextureUnit(1, scene.pyramid->plane(1).texture.name());
    if (scene.freshness != nullptr) glBindTextureUnit(2, scene.freshness->texture().name());
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace saccade::ui
