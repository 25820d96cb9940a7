#include "ui/receiver/receiver.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "gpu/gl/keep_target.h"
#include "ui/receiver/tile_shades.h"

namespace saccade::ui {

void Receiver::add(const PatchPainter& tokens, PictureSize size) {
  if (size.width_px != width_px_ || size.height_px != height_px_) {
    width_px_ = size.width_px;
    height_px_ = size.height_px;
    const auto side = static_cast<unsigned>(std::max(width_px_, height_px_));
    picture_ = gl::Texture(GL_RGBA8, width_px_, height_px_, static_cast<int>(std::bit_width(side)));
    picture_.set_parameter(GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    picture_.set_parameter(GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    framebuffer_ = gl::Framebuffer(picture_, 0);
  }
  const gl::KeepTarget target;
  framebuffer_.bind();
  glViewport(0, 0, width_px_, height_px_);
  for (const GLenum off : {GL_SCISSOR_TEST, GL_BLEND, GL_DEPTH_TEST, GL_CULL_FACE}) glDisable(off);
  // GL's first row is the lowest; the texture's is the frame's highest.
  tokens.draw({.origin_x = 0, .origin_y = static_cast<float>(height_px_), .scale_x = 1, .scale_y = -1}, width_px_,
              height_px_);
  shrunk_ = false;
}

const gl::Texture* Receiver::picture() {
  if (!picture_) return nullptr;
  if (!shrunk_) glGenerateTextureMipmap(picture_.name());
  shrunk_ = true;
  return &picture_;
}

void Receiver::update(View view, Allocator& allocator, TileGrid grid, std::int64_t pts_ns, float fix_u, float fix_v) {
  values_.resize(static_cast<std::size_t>(grid.count()));
  if (view == View::kHeld) {
    const auto came_by = allocator.came_by();
    std::transform(came_by.begin(), came_by.end(), values_.begin(),
                   [](std::int64_t token) { return std::uint8_t{token >= 0 ? std::uint8_t{255} : kNoShade}; });
  } else if (view == View::kWeights) {
    const auto weights = allocator.weights(pts_ns, fix_u, fix_v);
    std::transform(weights.begin(), weights.end(), values_.begin(), shade_of_weight);
  } else {
    const auto errors = allocator.held_errors();
    const auto weights = allocator.weights(pts_ns, fix_u, fix_v);
    const ErrorMeasure measure = allocator.error_measure();
    std::transform(errors.begin(), errors.end(), weights.begin(), values_.begin(),
                   [&](std::uint32_t error, Weight weight) { return shade_of_error(error, weight, measure); });
  }
  tiles_.upload(grid, values_);
}

}  // namespace saccade::ui
