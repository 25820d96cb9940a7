#include "kernels/gl/mips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/gl/shaders.h"

namespace saccade {
namespace {

constexpr std::uint32_t kTilesPerGroup = 4;    // gl_mips_tiles.comp
constexpr std::uint32_t kTexelsPerGroup = 64;  // gl_mips_coarse.comp
constexpr int kTileImages = 4;

// Uniform locations of the two shaders.
namespace tiles_at {
constexpr GLint kCount = 0, kCols = 1, kLevels = 2;
}
namespace coarse_at {
constexpr GLint kFirst = 0, kCount = 1, kChildBase = 2, kChildCols = 3, kOwnBase = 4, kOwnCols = 5, kLevel = 6;
}

constexpr std::uint32_t pack(int x, int y) {
  return static_cast<std::uint32_t>(x) | static_cast<std::uint32_t>(y) << 16;
}
GLuint unsigned_of(int value) { return static_cast<GLuint>(value); }

}  // namespace

GlMips::GlMips(const gl::Capabilities& capabilities, const PyramidLayout& layout, std::span<const GlPlane> planes)
    : planes_(planes), image_tiles_(layout.tiles) {
  if (layout.levels == 1) return;
  std::int64_t list_items = 0;
  const int step_count = std::max(layout.levels - 4, 1);  // luma level 4 is made by the tile itself
  for (int k = 0; k < step_count; ++k) {
    const TileGrid grid{layout.padded_tiles.cols >> k, layout.padded_tiles.rows >> k};
    steps_.push_back({grid, std::vector<std::uint8_t>(static_cast<std::size_t>(grid.count())), 0, 0});
    list_items += grid.count();
  }
  items_.resize(static_cast<std::size_t>(list_items));
  lists_ = gl::PboRing(capabilities, list_items * std::int64_t{sizeof(std::uint32_t)});
  for (const GlPlane& plane : planes_) {
    const int channels = plane.layout.channels;
    PlaneWork work;
    work.tile_levels = plane.layout.subsample_log2 == 0 ? 4 : 3;
    const std::string defines =
        fmt::format("#define TILE {}\n#define CHANNELS {}\n", plane.layout.tile_size(), channels);
    work.tiles = make_compute_program("gl_mips_tiles", defines);
    if (step_count > 1) work.coarse = make_compute_program("gl_mips_coarse", defines);
    std::int64_t entries = 0;
    for (const Step& step : steps_) {
      work.base.push_back(static_cast<std::uint32_t>(entries));
      entries += std::int64_t{step.grid.count()} * channels;
    }
    work.sums = gl::Buffer(entries * std::int64_t{sizeof(std::uint64_t)}, 0);
    work_.push_back(std::move(work));
  }
}

// Damaged tiles, and the padding tiles that repeat them.
void GlMips::list_tiles(const Damage& damage) {
  Step& step = steps_[0];
  step.first = 0;
  step.count = 0;
  damage.for_each([&](int index) {
    const int tx = index % image_tiles_.cols;
    const int ty = index / image_tiles_.cols;
    const int x_end = tx + 1 == image_tiles_.cols ? step.grid.cols : tx + 1;
    const int y_end = ty + 1 == image_tiles_.rows ? step.grid.rows : ty + 1;
    for (int y = ty; y < y_end; ++y) {
      for (int x = tx; x < x_end; ++x) items_[step.count++] = pack(x, y);
    }
  });
}

// The squares one step up that hold a square of this step's list, each once.
void GlMips::list_parents(std::size_t step_index) {
  const Step& child = steps_[step_index - 1];
  Step& step = steps_[step_index];
  step.first = child.first + child.count;
  step.count = 0;
  std::uint32_t* const own = items_.data() + step.first;
  for (std::uint32_t i = 0; i < child.count; ++i) {
    const std::uint32_t item = items_[child.first + i];
    const int x = static_cast<int>(item & 0xffffU) >> 1;
    const int y = static_cast<int>(item >> 16) >> 1;
    std::uint8_t& mark = step.marked[static_cast<std::size_t>(y * step.grid.cols + x)];
    if (mark != 0) continue;
    mark = 1;
    own[step.count++] = pack(x, y);
  }
  for (std::uint32_t i = 0; i < step.count; ++i) {
    step.marked[static_cast<std::size_t>(static_cast<int>(own[i] >> 16) * step.grid.cols +
                                         static_cast<int>(own[i] & 0xffffU))] = 0;
  }
}

void GlMips::dispatch_tiles(const GlPlane& plane, const PlaneWork& work) const {
  const Step& step = steps_[0];
  if (plane.layout.levels == 1) return;
  work.tiles.use();
  glBindTextureUnit(0, plane.codes.name());
  for (int level = 1; level <= kTileImages; ++level) {
    // The shader leaves levels that do not exist alone; their units get any that does.
    const int bound = std::min(level, plane.layout.levels - 1);
    glBindImageTexture(unsigned_of(level), plane.codes.name(), bound, GL_FALSE, 0, GL_WRITE_ONLY, plane.format.codes);
  }
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, work.sums.name());
  glUniform1ui(tiles_at::kCount, step.count);
  glUniform1ui(tiles_at::kCols, unsigned_of(step.grid.cols));
  glUniform1i(tiles_at::kLevels, plane.layout.levels);
  dispatch_compute(step.count, kTilesPerGroup);
}

void GlMips::dispatch_coarse(std::size_t step_index) const {
  const Step& step = steps_[step_index];
  const Step& child = steps_[step_index - 1];
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const GlPlane& plane = planes_[p];
    const PlaneWork& work = work_[p];
    const int level = work.tile_levels + static_cast<int>(step_index);
    work.coarse.use();
    glBindImageTexture(0, plane.codes.name(), level, GL_FALSE, 0, GL_WRITE_ONLY, plane.format.codes);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, work.sums.name());
    glUniform1ui(coarse_at::kFirst, step.first);
    glUniform1ui(coarse_at::kCount, step.count);
    glUniform1ui(coarse_at::kChildBase, work.base[step_index - 1]);
    glUniform1ui(coarse_at::kChildCols, unsigned_of(child.grid.cols));
    glUniform1ui(coarse_at::kOwnBase, work.base[step_index]);
    glUniform1ui(coarse_at::kOwnCols, unsigned_of(step.grid.cols));
    glUniform1i(coarse_at::kLevel, level);
    dispatch_compute(step.count, kTexelsPerGroup);
  }
}

void GlMips::refresh(const Damage& damage) {
  if (steps_.empty() || damage.count() == 0) return;
  gl::forget_errors();
  list_tiles(damage);
  for (std::size_t k = 1; k < steps_.size(); ++k) list_parents(k);
  const std::size_t list_bytes = (steps_.back().first + steps_.back().count) * sizeof(std::uint32_t);
  const std::span<std::byte> slot = lists_.write();
  if (slot.size() < list_bytes) throw gl::GlError("glMapNamedBufferRange: a list of tiles can't be mapped");
  std::memcpy(slot.data(), items_.data(), list_bytes);
  lists_.flush();
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, lists_.buffer(), static_cast<GLintptr>(lists_.offset_bytes()),
                    static_cast<GLsizeiptr>(lists_.slot_bytes()));
  for (std::size_t p = 0; p < planes_.size(); ++p) dispatch_tiles(planes_[p], work_[p]);
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    dispatch_coarse(k);
  }
  lists_.submit();
  glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT |
                  GL_SHADER_STORAGE_BARRIER_BIT);
  gl::check("glDispatchCompute of levels");
}

}  // namespace saccade
