#include "ui/picture/patch_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ui/picture/shaders.h"

namespace saccade::ui {
namespace {

constexpr int kTextureSide = 4096;  // every OpenGL 4.5 has four times that

}  // namespace

PatchPainter::PatchPainter() : program_(make_drawing_program("patches")), no_vertices_(gl::VertexArray::create()) {}

void PatchPainter::set(const PatchPlan& plan, const PatchBatch& batch) {
  patch_size_ = plan.patch_size;
  quad_list_.clear();
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    if (patch.coverage <= 0) continue;
    const float half_px = 0.5f * static_cast<float>(patch_size_) * std::exp2(patch.lod);
    quad_list_.push_back({patch.x_px, patch.y_px, half_px, static_cast<std::uint32_t>(n)});
  }
  std::stable_sort(quad_list_.begin(), quad_list_.end(),
                   [](const Quad& a, const Quad& b) { return a.half_px > b.half_px; });
  if (quads_room_ < quad_list_.size()) {
    quads_room_ = quad_list_.size();
    quads_ = gl::Buffer(static_cast<std::int64_t>(quads_room_ * sizeof(Quad)), GL_DYNAMIC_STORAGE_BIT);
  }
  if (!quad_list_.empty()) {
    glNamedBufferSubData(quads_.name(), 0, static_cast<GLsizeiptr>(quad_list_.size() * sizeof(Quad)),
                         quad_list_.data());
  }
  upload_samples(batch);
}

void PatchPainter::upload_samples(const PatchBatch& batch) {
  const int count = static_cast<int>(batch.count());
  columns_ = std::clamp(kTextureSide / patch_size_, 1, std::max(count, 1));
  const int rows = std::max((count + columns_ - 1) / columns_, 1);
  const int width = columns_ * patch_size_;
  const int height = rows * patch_size_ * 3;
  if (width != samples_width_ || height != samples_height_) {
    samples_ = gl::Texture(GL_R8, width, height, 1);
    samples_.set_parameter(GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    samples_.set_parameter(GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    samples_width_ = width;
    samples_height_ = height;
    packed_.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
  }
  const auto row_bytes = static_cast<std::size_t>(patch_size_);
  for (int n = 0; n < count; ++n) {
    const std::span<const std::byte> patch = batch.patch(static_cast<std::size_t>(n));
    const auto left = static_cast<std::size_t>(n % columns_) * row_bytes;
    const auto top = static_cast<std::size_t>(n / columns_) * row_bytes * 3;
    for (std::size_t y = 0; y < row_bytes * 3; ++y) {  // the three channels lie below each other in the batch as well
      std::memcpy(packed_.data() + (top + y) * static_cast<std::size_t>(width) + left, patch.data() + y * row_bytes,
                  row_bytes);
    }
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTextureSubImage2D(samples_.name(), 0, 0, 0, width, height, GL_RED, GL_UNSIGNED_BYTE, packed_.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
}

void PatchPainter::draw(const PictureMapping& mapping, int window_width_px, int window_height_px) const {
  if (quad_list_.empty()) return;
  program_.use();
  no_vertices_.bind();
  glBindTextureUnit(0, samples_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, quads_.name());
  glUniform2f(0, mapping.origin_x, mapping.origin_y);
  glUniform2f(1, mapping.scale_x, mapping.scale_y);
  glUniform2f(2, static_cast<float>(window_width_px), static_cast<float>(window_height_px));
  glUniform1i(3, patch_size_);
  glUniform1i(4, columns_);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(quad_list_.size()));
}

}  // namespace saccade::ui
