#include "kernels/texture.h"

#include <fmt/format.h>

#include <stdexcept>

namespace saccade {

const PlaneLayout& Levels::check_level(int plane, int level) const {
  const PyramidLayout& shape = layout();
  if (plane < 0 || plane >= shape.plane_count || level < 0 ||
      level >= shape.planes[static_cast<std::size_t>(plane)].levels) {
    throw std::out_of_range(fmt::format("the texture has no level {} of plane {}", level, plane));
  }
  return shape.planes[static_cast<std::size_t>(plane)];
}

const PlaneLayout& Levels::check_texels(int plane, int level, const TexelRect& part) const {
  const PlaneLayout& shape = check_level(plane, level);
  const int width = shape.width >> level, height = shape.height >> level;
  if (part.x < 0 || part.y < 0 || part.width < 0 || part.height < 0 || part.x > width - part.width ||
      part.y > height - part.height) {
    throw std::out_of_range(fmt::format("level {} of plane {} has {}x{} texels: no {}x{} from {},{} on", level, plane,
                                        width, height, part.width, part.height, part.x, part.y));
  }
  return shape;
}

void Levels::read_level(int plane, int level, LevelImage& out) const {
  const PlaneLayout& shape = check_level(plane, level);
  out.width = shape.width >> level;
  out.height = shape.height >> level;
  out.channels = shape.channels;
  out.bytes_per_channel = shape.bytes_per_channel;
  const std::size_t row_bytes = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(shape.texel_bytes());
  out.data.resize(row_bytes * static_cast<std::size_t>(out.height));
  read_texels(plane, level, {0, 0, out.width, out.height}, out.data.data(), static_cast<std::ptrdiff_t>(row_bytes));
}

PatchBatch Texture::make_batch(std::size_t count, int patch_size, const SampleFormat& format) {
  const PatchMemorySource* const source = capabilities().patch_memory;
  const std::size_t bytes = PatchBatch::bytes_of(count, patch_size, format);
  if (source == nullptr || bytes == 0) return PatchBatch(count, patch_size, format);
  return PatchBatch(count, patch_size, format, source->make_memory(bytes));
}

}  // namespace saccade
