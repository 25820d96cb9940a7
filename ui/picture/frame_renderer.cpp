#include "ui/picture/frame_renderer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "ui/picture/shaders.h"

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
  float pad0, pad1, pad2;
};
static_assert(sizeof(Params) == 224 && offsetof(Params, fixation_px) == 64 && offsetof(Params, heat_stops) == 112 &&
              offsetof(Params, window_height) == 192);

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
  p.lod_range = lod_range(scene.size, scene.fovea, scene.coarsest_lod);
  return p;
}

// Where the picture lies in the window.
PixelBox picture_rect(const Scene& scene, const PictureMapping& mapping) {
  return {static_cast<int>(std::lround(mapping.origin_x)), static_cast<int>(std::lround(mapping.origin_y)),
          static_cast<int>(std::lround(mapping.to_window_x(static_cast<float>(scene.size.width_px)))),
          static_cast<int>(std::lround(mapping.to_window_y(static_cast<float>(scene.size.height_px))))};
}

}  // namespace

FrameRenderer::FrameRenderer()
    : no_vertices_(gl::VertexArray::create()), params_(sizeof(Params), GL_DYNAMIC_STORAGE_BIT) {}

const gl::Program& FrameRenderer::program(View view, bool yuv, bool nearest) const {
  gl::Program& program = programs_[static_cast<std::size_t>(view)][(yuv ? 1U : 0U) + (nearest ? 2U : 0U)];
  if (!program) {
    program = make_drawing_program("view", fmt::format("#define VIEW {}\n#define YUV {}\n#define NEAREST {}\n",
                                                       static_cast<int>(view), yuv ? 1 : 0, nearest ? 1 : 0));
  }
  return program;
}

float coarsest_lod(const PatchPlan& plan) {
  float lod = 0;
  for (const Patch& patch : plan.patches) {
    if (patch.coverage > 0) lod = std::max(lod, patch.lod);
  }
  return lod;
}

float lod_range(const PictureSize& size, const shared::FoveaParams& fovea, float coarsest_lod) {
  const float e =
      shared::eccentricity(static_cast<float>(size.width_px), static_cast<float>(size.height_px), 0, 0, fovea);
  return std::max(std::ceil(std::max(shared::level_of_detail(e, fovea), coarsest_lod)), 1.0f);
}

void FrameRenderer::clear(int window_width_px, int window_height_px) const {
  glViewport(0, 0, window_width_px, window_height_px);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(kBackground, kBackground, kBackground, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

void FrameRenderer::use(const Scene& scene, const ViewSettings& settings, View view, const PictureMapping& mapping,
                        int window_height_px) const {
  const Params params = make_params(scene, settings, mapping, window_height_px);
  glNamedBufferSubData(params_.name(), 0, sizeof(Params), &params);
  const bool yuv = scene.pyramid->layout().plane_count > 1;
  program(view, yuv, !settings.linear).use();
  no_vertices_.bind();
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, params_.name());
  glBindTextureUnit(0, scene.pyramid->texture(0));
  if (yuv) glBindTextureUnit(1, scene.pyramid->texture(1));
  if (scene.tiles != nullptr) glBindTextureUnit(2, scene.tiles->texture().name());
  if (view == View::kHeld && scene.held != nullptr) {
    const GLint enlarged = settings.linear ? GL_LINEAR : GL_NEAREST;
    glTextureParameteri(scene.held->name(), GL_TEXTURE_MAG_FILTER, enlarged);
    glTextureParameteri(scene.held->name(), GL_TEXTURE_MIN_FILTER,
                        settings.linear ? GL_LINEAR_MIPMAP_LINEAR : GL_NEAREST_MIPMAP_NEAREST);
    glBindTextureUnit(3, scene.held->name());
  }
}

void FrameRenderer::draw(const Scene& scene, const ViewSettings& settings, View view, const PictureMapping& mapping,
                         int window_width_px, int window_height_px, std::span<const PixelBox> visible) const {
  if (scene.pyramid == nullptr) return;
  const bool patches = view == View::kPatches;
  if (patches && scene.patches == nullptr) return;
  glViewport(0, 0, window_width_px, window_height_px);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  glEnable(GL_SCISSOR_TEST);
  if (!patches) use(scene, settings, view, mapping, window_height_px);
  const PixelBox picture = picture_rect(scene, mapping);
  for (const PixelBox& rect : visible) {
    const PixelBox area = intersection(rect, picture);
    if (area.empty()) continue;
    glScissor(area.left, window_height_px - area.bottom, area.right - area.left, area.bottom - area.top);
    if (patches) {
      glClearColor(0, 0, 0, 1);
      glClear(GL_COLOR_BUFFER_BIT);
      scene.patches->draw(mapping, window_width_px, window_height_px);
    } else {
      glDrawArrays(GL_TRIANGLES, 0, 3);
    }
  }
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace saccade::ui
