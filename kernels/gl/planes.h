// The persistent texture on GL: one immutable mipmapped texture a plane, seen as numbers 0..1 and as integer codes.
#pragma once

#include <vector>

#include "gpu/gl/context.h"
#include "kernels/damage.h"
#include "kernels/pyramid_layout.h"
#include "kernels/texture.h"

namespace saccade {

struct GlFormat {
  GLenum normalized = GL_R8;  // of the storage
  GLenum codes = GL_R8UI;     // of the view: same bits, integer reads and image stores
  GLenum transfer = GL_RED;   // glTextureSubImage2D
  GLenum transfer_codes = GL_RED_INTEGER;
  GLenum type = GL_UNSIGNED_BYTE;
};
GlFormat gl_format(const PlaneLayout& plane);

// `texture` filters (drawing, hardware trilinear); `codes` is a view of it for exact integer work.
struct GlPlane {
  PlaneLayout layout;
  GlFormat format;
  gl::Texture texture;
  gl::Texture codes;
};

// A rectangle of tiles as texels of a plane's level, rounded outwards where a tile is less than a texel.
inline TexelRect texel_rect(const TileRect& rect, const PlaneLayout& plane, int level) {
  const int tile = plane.tile_size();
  const int round = (1 << level) - 1;
  const int x = rect.x * tile >> level;
  const int y = rect.y * tile >> level;
  return {x, y, (((rect.x + rect.width) * tile + round) >> level) - x,
          (((rect.y + rect.height) * tile + round) >> level) - y};
}

// `pixels`: rows as glPixelStorei's unpack state has them; an offset where a pixel buffer is bound.
void write_texels(const GlPlane& plane, int level, const TexelRect& rect, const void* pixels);

// Throws gl::GlError when a plane is larger than the context's largest texture, saying both, or memory runs out.
std::vector<GlPlane> make_gl_planes(const gl::Capabilities& capabilities, const PyramidLayout& layout);

}  // namespace saccade
