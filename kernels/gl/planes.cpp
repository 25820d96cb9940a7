#include "kernels/gl/planes.h"

#include <fmt/format.h>

#include <algorithm>

namespace saccade {
namespace {

GlPlane make_plane(const PlaneLayout& layout) {
  GlPlane plane{layout, gl_format(layout), {}, {}};
  plane.texture = gl::Texture(plane.format.normalized, layout.width, layout.height, layout.levels);
  plane.texture.set_parameter(GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  plane.texture.set_parameter(GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  for (int level = 0; level < layout.levels; ++level) {  // OpenGL leaves new texels undefined
    glClearTexImage(plane.texture.name(), level, plane.format.transfer, plane.format.type, nullptr);
  }
  plane.codes = gl::Texture::view_of(plane.texture, plane.format.codes, layout.levels);
  plane.codes.set_parameter(GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);  // integers do not filter
  plane.codes.set_parameter(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  for (const gl::Texture* texture : {&plane.texture, &plane.codes}) {
    glTextureParameteri(texture->name(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(texture->name(), GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  }
  return plane;
}

}  // namespace

GlFormat gl_format(const PlaneLayout& plane) {
  if (plane.channels == 4) return {GL_RGBA8, GL_RGBA8UI, GL_RGBA, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE};
  if (plane.bytes_per_channel == 2) {
    if (plane.channels == 2) return {GL_RG16, GL_RG16UI, GL_RG, GL_RG_INTEGER, GL_UNSIGNED_SHORT};
    return {GL_R16, GL_R16UI, GL_RED, GL_RED_INTEGER, GL_UNSIGNED_SHORT};
  }
  if (plane.channels == 2) return {GL_RG8, GL_RG8UI, GL_RG, GL_RG_INTEGER, GL_UNSIGNED_BYTE};
  return {GL_R8, GL_R8UI, GL_RED, GL_RED_INTEGER, GL_UNSIGNED_BYTE};
}

std::vector<GlPlane> make_gl_planes(const gl::Capabilities& capabilities, const PyramidLayout& layout) {
  const int side = std::max(layout.planes[0].width, layout.planes[0].height);
  if (side > capabilities.max_texture_size) {
    throw gl::GlError(fmt::format("glTextureStorage2D: {}x{} texels are more than this OpenGL allows per side ({}: {})",
                                  layout.planes[0].width, layout.planes[0].height, capabilities.renderer,
                                  capabilities.max_texture_size),
                      DeviceRemedy::kSmallerTexture);
  }
  std::vector<GlPlane> planes;
  for (int p = 0; p < layout.plane_count; ++p) planes.push_back(make_plane(layout.planes[static_cast<std::size_t>(p)]));
  return planes;
}

void write_texels(const GlPlane& plane, int level, const TexelRect& rect, const void* pixels) {
  glTextureSubImage2D(plane.texture.name(), level, rect.x, rect.y, rect.width, rect.height, plane.format.transfer,
                      plane.format.type, pixels);
}

}  // namespace saccade
