#include "kernels/gl/uploader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "kernels/gl/planes.h"

namespace saccade {
namespace {

constexpr int kSmallLevelTexels = 64 * 64;  // sent whole: one call costs more than its bytes

UploadPath resolve(UploadPath path, const gl::Capabilities& capabilities) {
  if (path != UploadPath::kAuto) return path;
  return capabilities.software ? UploadPath::kDirect : UploadPath::kPbo;
}

}  // namespace

GlUploader::GlUploader(const gl::Capabilities& capabilities, std::span<const GlPlane> planes, const CpuPyramid& shadow,
                       UploadPath path)
    : planes_(planes), shadow_(shadow), path_(resolve(path, capabilities)) {
  if (path_ != UploadPath::kPbo) return;
  std::int64_t bytes = 0;
  for (const GlPlane& plane : planes_) bytes += plane.layout.level0_bytes();
  ring_ = gl::PboRing(capabilities, bytes);
}

void GlUploader::push(std::span<const TileRect> rects) {
  if (rects.empty()) return;
  gl::forget_errors();
  if (path_ == UploadPath::kPbo) {
    push_packed(rects);
  } else {
    for (int p = 0; p < static_cast<int>(planes_.size()); ++p) push_direct(rects, p, 0);
  }
  gl::check("glTextureSubImage2D");
}

void GlUploader::push_mips(std::span<const TileRect> rects) const {
  if (rects.empty()) return;
  gl::forget_errors();
  for (int p = 0; p < static_cast<int>(planes_.size()); ++p) {
    const PlaneLayout& plane = planes_[static_cast<std::size_t>(p)].layout;
    const TileRect everything{0, 0, plane.width / plane.tile_size(), plane.height / plane.tile_size()};
    for (int level = 1; level < plane.levels; ++level) {
      const bool small = std::int64_t{plane.width >> level} * (plane.height >> level) <= kSmallLevelTexels;
      push_direct(small ? std::span(&everything, 1) : rects, p, level);
    }
  }
  gl::check("glTextureSubImage2D of levels");
}

void GlUploader::push_direct(std::span<const TileRect> rects, int plane_index, int level) const {
  const GlPlane& plane = planes_[static_cast<std::size_t>(plane_index)];
  const LevelView view = shadow_.level_view(plane_index, level);
  const int texel_bytes = plane.layout.texel_bytes();
  glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(view.pitch_bytes / texel_bytes));
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  for (const TileRect& rect : rects) {
    const TexelRect r = texel_rect(rect, plane.layout, level);
    write_texels(plane, level, r, view.row(r.y) + std::ptrdiff_t{r.x} * texel_bytes);
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

// Rectangles may overlap, so a slot can fill up early; then the next one is used.
void GlUploader::push_packed(std::span<const TileRect> rects) {
  std::size_t first = 0;
  while (first < rects.size()) {
    const std::span<std::byte> slot = ring_.write();
    std::size_t used = 0;
    std::size_t end = first;
    for (; end < rects.size(); ++end) {
      std::size_t need = 0;
      for (const GlPlane& plane : planes_) {
        const TexelRect r = texel_rect(rects[end], plane.layout, 0);
        need += static_cast<std::size_t>(r.width) * static_cast<std::size_t>(r.height * plane.layout.texel_bytes());
      }
      if (used + need > slot.size()) break;
      for (std::size_t p = 0; p < planes_.size(); ++p) {
        const TexelRect r = texel_rect(rects[end], planes_[p].layout, 0);
        const LevelView view = shadow_.level_view(static_cast<int>(p), 0);
        const auto row_bytes = static_cast<std::size_t>(r.width * planes_[p].layout.texel_bytes());
        const std::ptrdiff_t x_bytes = std::ptrdiff_t{r.x} * planes_[p].layout.texel_bytes();
        for (int y = 0; y < r.height; ++y, used += row_bytes) {
          std::memcpy(slot.data() + used, view.row(r.y + y) + x_bytes, row_bytes);
        }
      }
    }
    ring_.flush();
    if (end == first) throw gl::GlError("glMapNamedBufferRange: the pixel buffer can't be mapped; is the GPU lost?");
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, ring_.buffer());
    std::int64_t offset = ring_.offset_bytes();
    for (; first < end; ++first) {
      for (const GlPlane& plane : planes_) {
        const TexelRect r = texel_rect(rects[first], plane.layout, 0);
        write_texels(plane, 0, r, reinterpret_cast<const void*>(offset));
        offset += std::int64_t{r.width} * r.height * plane.layout.texel_bytes();
      }
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    ring_.submit();
  }
}

double GlUploader::time_us(std::span<const TileRect> rects, bool with_mips) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRepeats = 5;
  std::array<double, kRepeats> times{};
  for (double& time : times) {
    glFinish();
    const auto start = Clock::now();
    push(rects);
    if (with_mips) push_mips(rects);
    glFinish();
    time = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

UploadCost GlUploader::calibrate(bool with_mips) {
  const TileGrid grid = shadow_.layout().padded_tiles;
  constexpr int kFew = 1;
  constexpr int kMany = 65;
  std::array<TileRect, kMany> tiles;
  for (int i = 0; i < kMany; ++i) tiles[static_cast<std::size_t>(i)] = {i % grid.cols, i / grid.cols % grid.rows, 1, 1};
  const TileRect everything{0, 0, grid.cols, grid.rows};
  std::int64_t all_bytes = 0;
  for (const GlPlane& plane : planes_) all_bytes += plane.layout.level0_bytes();
  const double tile_bytes = static_cast<double>(all_bytes) / grid.count();

  const double few_us = time_us(std::span(tiles).first(kFew), with_mips);
  const double many_us = time_us(tiles, with_mips);
  const double all_us = time_us({&everything, 1}, with_mips);
  // Per rectangle without the fixed cost of starting and waiting; bytes from the large copy.
  const double rect_us = std::max((many_us - few_us) / (kMany - kFew), 1e-3);
  UploadCost cost;
  cost.byte_us = std::max(all_us - few_us, 1e-3) / std::max(static_cast<double>(all_bytes) - tile_bytes, 1.0);
  cost.call_us = std::max(rect_us - tile_bytes * cost.byte_us, 1e-3) / static_cast<double>(planes_.size());
  return cost;
}

}  // namespace saccade
