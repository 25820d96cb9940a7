#include "kernels/cpu/pyramid.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "kernels/cpu/frame_rows.h"

namespace saccade {
namespace {

constexpr std::size_t kAlignment = 64;

// Rows a power of two apart fall into the same cache sets: such pitches get one more line.
std::ptrdiff_t padded_pitch(int width, int texel_bytes) {
  constexpr std::ptrdiff_t kLine = 64;
  const std::ptrdiff_t pitch = (std::ptrdiff_t{width} * texel_bytes + kLine - 1) / kLine * kLine;
  return pitch % 1024 == 0 ? pitch + kLine : pitch;
}

// A texture is gone through from end to end with every frame: in large pages, where the kernel has some, it needs few
// entries of the translation cache.
std::uint8_t* allocate_texture(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t unit = bytes > kHugePage / 2 ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  if (unit == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);  // refused: ordinary pages
  return static_cast<std::uint8_t*>(memory);
}

void repeat_texel(std::uint8_t* out, const std::uint8_t* texel, int texel_bytes, int count) {
  if (texel_bytes == 1) {
    std::memset(out, *texel, static_cast<std::size_t>(count));
    return;
  }
  for (int i = 0; i < count; ++i) std::memcpy(out + i * texel_bytes, texel, static_cast<std::size_t>(texel_bytes));
}

// Rounded mean of 4^level texels.
std::uint64_t mean(std::uint64_t sum, int level) {
  return (sum + (std::uint64_t{1} << (2 * level - 1))) >> (2 * level);
}

// Some texels of a level that is coarser than a tile.
struct CoarseLevel {
  std::span<const TexelPosition> texels;
  int cols;   // texels that hold tiles, in a row: the pitch of the sums
  int level;  // a texel is the mean of 4^level texels of level 0
  std::uint8_t* data;
  std::ptrdiff_t pitch;
};

// Each is made of four sums of the level below, or of four tiles.
template <class T, int kChannels, class Sum>
void make_texels(const CoarseLevel& coarse, const Sum* from, std::uint64_t* to) {
  const std::ptrdiff_t to_pitch = std::ptrdiff_t{coarse.cols} * kChannels;
  const std::ptrdiff_t from_pitch = 2 * to_pitch;
  for (const TexelPosition& at : coarse.texels) {
    const Sum* four = from + 2 * at.y * from_pitch + std::ptrdiff_t{2 * kChannels} * at.x;
    std::uint64_t* sum = to + at.y * to_pitch + std::ptrdiff_t{kChannels} * at.x;
    std::uint8_t* texel = coarse.data + at.y * coarse.pitch + at.x * std::ptrdiff_t{kChannels * sizeof(T)};
    for (int c = 0; c < kChannels; ++c) {
      sum[c] = std::uint64_t{four[c]} + four[c + kChannels] + four[c + from_pitch] + four[c + from_pitch + kChannels];
      const auto value = static_cast<T>(mean(sum[c], coarse.level));
      std::memcpy(texel + static_cast<std::size_t>(c) * sizeof(T), &value, sizeof(T));
    }
  }
}

}  // namespace

void CpuPyramid::Storage::operator()(std::uint8_t* bytes) const { std::free(bytes); }

CpuPyramid::CpuPyramid(const PyramidLayout& layout, const CpuOps& ops) : layout_(layout), ops_(ops) {
  allocate();
  make_sums();
}

void CpuPyramid::allocate() {
  std::size_t total = kAlignment;  // readable bytes after the last row
  for (int p = 0; p < layout_.plane_count; ++p) {
    const PlaneLayout& shape = layout_.planes[static_cast<std::size_t>(p)];
    Plane& plane = planes_[static_cast<std::size_t>(p)];
    plane.kind = texel_kind(shape);
    plane.tile_levels = shape.subsample_log2 == 0 ? 4 : 3;
    for (int l = 0; l < shape.levels; ++l) {
      Level level{nullptr, padded_pitch(shape.width >> l, shape.texel_bytes()), shape.width >> l, shape.height >> l};
      total += static_cast<std::size_t>(level.pitch) * static_cast<std::size_t>(level.height);
      plane.levels.push_back(level);
    }
  }
  storage_.reset(allocate_texture(total));
  std::memset(storage_.get(), 0, total);
  std::uint8_t* next = storage_.get();
  for (Plane& plane : planes_) {
    for (Level& level : plane.levels) {
      level.data = next;
      next += level.pitch * level.height;
      plane.views.push_back({level.data, level.pitch, level.width, level.height});
    }
  }
}

void CpuPyramid::make_sums() {
  const TileGrid grid = layout_.padded_tiles;
  for (int p = 0; p < layout_.plane_count; ++p) {
    const auto channels = static_cast<std::size_t>(layout_.planes[static_cast<std::size_t>(p)].channels);
    planes_[static_cast<std::size_t>(p)].tile_sums.resize(static_cast<std::size_t>(grid.count()) * channels);
  }
  for (int k = 0; k <= coarse_steps(); ++k) {
    const auto squares = static_cast<std::size_t>(grid.cols >> k) * static_cast<std::size_t>(grid.rows >> k);
    dirty_.emplace_back(k > 0 ? squares : 0);
    for (int p = 0; p < layout_.plane_count; ++p) {
      const PlaneLayout& shape = layout_.planes[static_cast<std::size_t>(p)];
      planes_[static_cast<std::size_t>(p)].sums.emplace_back(k > 0 ? squares * static_cast<std::size_t>(shape.channels)
                                                                   : 0);
    }
  }
  scratch_.resize(static_cast<std::size_t>(layout_.planes[0].width) * 4);
  if (coarse_steps() > 0) squares_.reserve(dirty_[1].size());
}

std::int64_t CpuPyramid::upload(const FrameView& frame, const Damage& damage) {
  check_frame(frame, layout_);
  check_damage(damage, layout_);
  std::int64_t bytes = 0;
  for (int p = 0; p < layout_.plane_count; ++p) {
    const FrameRows rows(frame, p, ops_);
    const auto pack = [&](int x, int y, int n, std::uint8_t* out) { rows.pack(x, y, n, out); };
    for_each_run(damage, [&](int ty, int begin, int end) { bytes += write_run(p, ty, begin, end, pack); });
  }
  return bytes;
}

std::int64_t CpuPyramid::write_tiles(std::span<const TileRow> planes, int ty, int tx_begin, int tx_end) {
  std::int64_t bytes = 0;
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const PlaneLayout& shape = layout_.planes[p];
    const std::ptrdiff_t texel_bytes = shape.texel_bytes();
    const int top = ty * shape.tile_size();
    bytes += write_run(static_cast<int>(p), ty, tx_begin, tx_end, [&](int x, int y, int n, std::uint8_t* out) {
      std::memcpy(out, planes[p].row(y - top) + x * texel_bytes, static_cast<std::size_t>(n * texel_bytes));
    });
  }
  return bytes;
}

// Tiles [tx_begin, tx_end) of a tile row, and the padding that repeats them. pack(x, y, n, out) writes n texels.
template <typename Pack>
std::int64_t CpuPyramid::write_run(int plane, int ty, int tx_begin, int tx_end, const Pack& pack) {
  const PlaneLayout& shape = layout_.planes[static_cast<std::size_t>(plane)];
  const Level& level = planes_[static_cast<std::size_t>(plane)].levels[0];
  const int size = shape.tile_size();
  const int texel_bytes = shape.texel_bytes();
  const int x_begin = tx_begin * size;
  const int x_image = std::min(tx_end * size, shape.image_width);
  const int x_end = tx_end == layout_.tiles.cols ? shape.width : x_image;
  const int y_begin = ty * size;
  const int y_image = std::min(y_begin + size, shape.image_height);
  const int y_end = ty + 1 == layout_.tiles.rows ? shape.height : y_image;
  const std::size_t row_bytes = static_cast<std::size_t>(x_end - x_begin) * static_cast<std::size_t>(texel_bytes);

  for (int y = y_begin; y < y_image; ++y) {
    std::uint8_t* row = level.data + y * level.pitch;
    pack(x_begin, y, x_image - x_begin, row + x_begin * texel_bytes);
    if (x_image < x_end)
      repeat_texel(row + x_image * texel_bytes, row + (x_image - 1) * texel_bytes, texel_bytes, x_end - x_image);
  }
  const std::uint8_t* last = level.data + (y_image - 1) * level.pitch + x_begin * texel_bytes;
  for (int y = y_image; y < y_end; ++y) {
    std::memcpy(level.data + y * level.pitch + x_begin * texel_bytes, last, row_bytes);
  }
  return static_cast<std::int64_t>(row_bytes) * (y_end - y_begin);
}

void CpuPyramid::refresh_mips(const Damage& damage) {
  check_damage(damage, layout_);
  for_each_run(damage, [&](int ty, int begin, int end) { refresh_tiles(ty, begin, end); });
  refresh_coarse();
}

void CpuPyramid::refresh_tiles(int ty, int tx_begin, int tx_end) {
  if (layout_.levels == 1) return;
  const int x_end = tx_end == layout_.tiles.cols ? layout_.padded_tiles.cols : tx_end;
  const int y_end = ty + 1 == layout_.tiles.rows ? layout_.padded_tiles.rows : ty + 1;
  for (int y = ty; y < y_end; ++y) {
    for (int p = 0; p < layout_.plane_count; ++p) refresh_run(p, y, tx_begin, x_end);
    if (coarse_steps() < 1) continue;
    std::uint8_t* dirty = dirty_[1].data() + std::ptrdiff_t{y >> 1} * (layout_.padded_tiles.cols >> 1);
    std::fill(dirty + (tx_begin >> 1), dirty + ((x_end - 1) >> 1) + 1, std::uint8_t{1});
  }
}

void CpuPyramid::refresh_coarse() {
  for (int k = 1; k <= coarse_steps(); ++k) refresh_coarse_level(k);
}

void CpuPyramid::mark(int step, int x, int y) {
  const int cols = layout_.padded_tiles.cols >> step;
  dirty_[static_cast<std::size_t>(step)][static_cast<std::size_t>(y * cols + x)] = 1;
}

// Levels that tiles [tx_begin, tx_end) of a row make by themselves.
void CpuPyramid::refresh_run(int plane_index, int ty, int tx_begin, int tx_end) {
  Plane& plane = planes_[static_cast<std::size_t>(plane_index)];
  const PlaneLayout& shape = layout_.planes[static_cast<std::size_t>(plane_index)];
  const int size = shape.tile_size();
  const int texel_bytes = shape.texel_bytes();
  const Level& base = plane.levels[0];
  TileMips run;
  run.tiles = tx_end - tx_begin;
  run.source = base.data + std::ptrdiff_t{ty} * size * base.pitch + std::ptrdiff_t{tx_begin} * size * texel_bytes;
  run.source_pitch = base.pitch;
  for (int l = 1; l <= plane.tile_levels; ++l) {
    const auto slot = static_cast<std::size_t>(l - 1);
    if (l < shape.levels) {
      const Level& level = plane.levels[static_cast<std::size_t>(l)];
      const int side = size >> l;
      run.out[slot] =
          level.data + std::ptrdiff_t{ty} * side * level.pitch + std::ptrdiff_t{tx_begin} * side * texel_bytes;
      run.out_pitch[slot] = level.pitch;
    } else {
      run.out[slot] = scratch_.data();
      run.out_pitch[slot] = 0;
    }
  }
  const std::size_t first = static_cast<std::size_t>(ty * layout_.padded_tiles.cols + tx_begin);
  std::uint32_t* sums = plane.tile_sums.data() + first * static_cast<std::size_t>(shape.channels);
  ops_.tile_mips[static_cast<std::size_t>(plane.kind)](run, sums);
}

// The level whose texels cover 2^step x 2^step tiles.
void CpuPyramid::refresh_coarse_level(int step) {
  std::vector<std::uint8_t>& dirty = dirty_[static_cast<std::size_t>(step)];
  const int cols = layout_.padded_tiles.cols >> step;
  const bool coarser = static_cast<std::size_t>(step) + 1 < dirty_.size();
  squares_.clear();
  int index = 0;
  for (int y = 0; index < static_cast<int>(dirty.size()); ++y) {
    for (int x = 0; x < cols; ++x, ++index) {
      std::uint8_t& is_dirty = dirty[static_cast<std::size_t>(index)];
      if (is_dirty == 0) continue;
      is_dirty = 0;
      squares_.push_back({x, y});
      if (coarser) mark(step + 1, x >> 1, y >> 1);
    }
  }
  for (int p = 0; p < layout_.plane_count; ++p) refresh_squares(p, step);
}

// One plane's texels of that level, at squares_.
void CpuPyramid::refresh_squares(int plane_index, int step) {
  Plane& plane = planes_[static_cast<std::size_t>(plane_index)];
  const Level& level = plane.levels[static_cast<std::size_t>(plane.tile_levels + step)];
  std::uint64_t* to = plane.sums[static_cast<std::size_t>(step)].data();
  const auto refresh = [&](const auto* from) {
    const CoarseLevel coarse{squares_, layout_.padded_tiles.cols >> step, plane.tile_levels + step, level.data,
                             level.pitch};
    switch (plane.kind) {
      case TexelKind::k8x1:
        return make_texels<std::uint8_t, 1>(coarse, from, to);
      case TexelKind::k8x2:
        return make_texels<std::uint8_t, 2>(coarse, from, to);
      case TexelKind::k8x4:
        return make_texels<std::uint8_t, 4>(coarse, from, to);
      case TexelKind::k16x1:
        return make_texels<std::uint16_t, 1>(coarse, from, to);
      case TexelKind::k16x2:
        return make_texels<std::uint16_t, 2>(coarse, from, to);
    }
  };
  if (step == 1) {
    refresh(plane.tile_sums.data());
  } else {
    refresh(plane.sums[static_cast<std::size_t>(step) - 1].data());
  }
}

void CpuPyramid::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  sample_wanted(plan, color, {}, batch);
}

void CpuPyramid::sample_wanted(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> wanted,
                               PatchBatch& batch) {
  check_same_shape(plan, batch);
  SampleSource source;
  source.luma = planes_[0].views;
  source.wide = layout_.format == TextureFormat::kYuv16;
  source.site_shift_x = color.site_shift_x;
  source.site_shift_y = color.site_shift_y;
  if (layout_.format != TextureFormat::kRgba8) {
    source.chroma = planes_[1].views;
    source.color = make_color_params(color, source.wide ? 65535.0f : 255.0f);
  }
  for (std::size_t n = 0; n < plan.count(); ++n) {
    if (n < wanted.size() && wanted[n] == 0) continue;
    ops_.sample_patch(source, plan.patches[n], plan.patch_size, batch.format(), batch.patch(n).data());
  }
}

LevelView CpuPyramid::level_view(int plane, int level) const {
  check_level(plane, level);
  return planes_[static_cast<std::size_t>(plane)].views[static_cast<std::size_t>(level)];
}

void CpuPyramid::read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                             std::ptrdiff_t pitch_bytes) const {
  const auto texel_bytes = static_cast<std::size_t>(check_texels(plane, level, part).texel_bytes());
  const LevelView view = level_view(plane, level);
  for (int y = 0; y < part.height; ++y) {
    std::memcpy(out + y * pitch_bytes, view.row(part.y + y) + static_cast<std::size_t>(part.x) * texel_bytes,
                static_cast<std::size_t>(part.width) * texel_bytes);
  }
}

}  // namespace saccade
