#include "kernels/cpu/differ.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr std::size_t kColumnBytes = 16;  // of CpuOps::compare8

}  // namespace

CpuTileDiffer::CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config)
    : CpuTileDiffer(texture, config, texture.ops()) {}

CpuTileDiffer::CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config, const CpuOps& ops)
    : texture_(texture), ops_(ops), damage_(texture.layout().tiles), reader_(texture.layout()) {
  std::size_t widest = 0;
  for (int p = 0; p < texture.layout().plane_count; ++p) {
    const auto slot = static_cast<std::size_t>(p);
    const PlaneLayout& plane = texture.layout().planes[slot];
    base_[slot] = texture.level_view(p, 0);
    const std::size_t row_bytes = static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.texel_bytes());
    widest = std::max(widest, row_bytes);
    unequal_[slot].resize(row_bytes / kColumnBytes + 1);
    energy_[slot].resize(row_bytes / kColumnBytes + 1);
  }
  marks_.resize(widest);
  sums_.resize(static_cast<std::size_t>(texture.layout().tiles.cols));
  configure(config);
}

void CpuTileDiffer::configure(const DiffConfig& config) {
  config_ = config;
  config_.threshold = std::clamp(config.threshold, 0, 256);  // 256: no difference is larger
  config_.min_samples = std::max(config.min_samples, 0);
  config_.noise_floor = std::clamp(config.noise_floor, 0, 256);
}

void CpuTileDiffer::start_over(const DiffConfig& config) {
  configure(config);
  damage_.clear();
  everything_ = true;
}

const Damage& CpuTileDiffer::diff(const FrameView& frame) {
  if (begin(frame)) {
    for (int ty = 0; ty < texture_.layout().tiles.rows; ++ty) {
      if (may_differ(frame, ty)) diff_row(read_row(frame, ty), ty);
    }
  }
  return damage_;
}

bool CpuTileDiffer::may_differ(const FrameView& frame, int ty) {
  if (!frame.may_differ) return true;
  return std::any_of(frame.may_differ->begin(), frame.may_differ->end(), [ty](const PixelRect& rect) {
    return rect.width > 0 && rect.height > 0 && rect.y < (ty + 1) * kTilePx && ty * kTilePx < rect.y + rect.height;
  });
}

bool CpuTileDiffer::begin(const FrameView& frame) {
  check_frame(frame, texture_.layout());
  if (everything_) {
    damage_.set_all();
    everything_ = false;
    return false;
  }
  damage_.clear();
  return true;
}

std::span<const TileRow> CpuTileDiffer::read_row(const FrameView& frame, int ty) {
  const int planes = texture_.layout().plane_count;
  for (int p = 0; p < planes; ++p) rows_[static_cast<std::size_t>(p)] = reader_.read(frame, p, ty, ops_);
  return std::span(rows_).first(static_cast<std::size_t>(planes));
}

void CpuTileDiffer::diff_row(std::span<const TileRow> planes, int ty) {
  if (exact() && texture_.layout().planes[0].bytes_per_channel == 1) {
    compare_row(planes, ty);
  } else {
    count_row(planes, ty);
  }
}

// Exact, 8 bit: whether bytes differ and the energy in one pass.
void CpuTileDiffer::compare_row(std::span<const TileRow> planes, int ty) {
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const PlaneLayout& shape = texture_.layout().planes[p];
    const LevelView& base = base_[p];
    ops_.compare8(planes[p].data, planes[p].pitch, base.row(ty * shape.tile_size()), base.pitch_bytes,
                  static_cast<std::size_t>(shape.image_width * shape.texel_bytes()), planes[p].rows,
                  config_.noise_floor, unequal_[p].data(), energy_[p].data());
  }
  const int cols = texture_.layout().tiles.cols;
  if (planes.size() == 2) {  // a tile is one column of either plane
    for (int tx = 0; tx < cols; ++tx) {
      const auto t = static_cast<std::size_t>(tx);
      if ((unequal_[0][t] | unequal_[1][t]) != 0) damage_.set(ty * cols + tx, energy_[0][t]);
    }
    return;
  }
  const std::size_t columns =
      (static_cast<std::size_t>(texture_.layout().planes[0].image_width) * 4 - 1) / kColumnBytes;
  for (int tx = 0; tx < cols; ++tx) {  // RGBA: four columns, fewer at the right edge
    bool differs = false;
    std::uint32_t energy = 0;
    for (std::size_t c = static_cast<std::size_t>(tx) * 4; c <= std::min(static_cast<std::size_t>(tx) * 4 + 3, columns);
         ++c) {
      differs = differs || unequal_[0][c] != 0;
      energy += energy_[0][c];
    }
    if (differs) damage_.set(ty * cols + tx, energy);
  }
}

// Any threshold and depth: samples over it are counted, and the energy is measured where there is damage.
void CpuTileDiffer::count_row(std::span<const TileRow> planes, int ty) {
  std::fill(sums_.begin(), sums_.end(), 0U);
  for (std::size_t p = 0; p < planes.size(); ++p) mark_plane(planes[p], static_cast<int>(p), ty);
  const int cols = texture_.layout().tiles.cols;
  const auto allowed = static_cast<std::uint32_t>(config_.min_samples);
  for (int tx = 0; tx < cols; ++tx) {
    if (sums_[static_cast<std::size_t>(tx)] > allowed) damage_.set(ty * cols + tx, energy(planes[0], tx, ty));
  }
}

// Adds to sums_: per tile of the row, more than 0 where bytes are unequal, or the number of samples over the threshold.
void CpuTileDiffer::mark_plane(const TileRow& rows, int plane, int ty) {
  const PlaneLayout& shape = texture_.layout().planes[static_cast<std::size_t>(plane)];
  const LevelView& base = base_[static_cast<std::size_t>(plane)];
  const std::size_t row_bytes =
      static_cast<std::size_t>(shape.image_width) * static_cast<std::size_t>(shape.texel_bytes());
  const bool wide = shape.bytes_per_channel == 2;
  std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
  for (int y = 0; y < rows.rows; ++y) {
    const std::uint8_t* row = rows.row(y);
    const std::uint8_t* old = base.row(ty * shape.tile_size() + y);
    if (exact()) {
      ops_.mark_unequal(row, old, marks_.data(), row_bytes);
    } else if (wide) {
      ops_.count_over16(row, old, marks_.data(), row_bytes / 2, config_.threshold * 256);
    } else {
      ops_.count_over8(row, old, marks_.data(), row_bytes, config_.threshold);
    }
  }
  const auto tile_bytes = static_cast<std::size_t>(shape.tile_size() * shape.texel_bytes());
  ops_.sum_marks(marks_.data(), sums_.size(), tile_bytes, sums_.data());
}

std::uint32_t CpuTileDiffer::energy(const TileRow& luma, int tx, int ty) const {
  const PlaneLayout& shape = texture_.layout().planes[0];
  const LevelView& base = base_[0];
  const int x = tx * kTilePx;
  const int width = (std::min(x + kTilePx, shape.image_width) - x) * shape.channels;
  const std::uint8_t* a = luma.data + std::ptrdiff_t{x} * shape.texel_bytes();
  const std::uint8_t* b = base.row(ty * kTilePx) + std::ptrdiff_t{x} * shape.texel_bytes();
  if (shape.bytes_per_channel == 2) {
    return ops_.energy16(a, luma.pitch, b, base.pitch_bytes, width, luma.rows, config_.noise_floor * 256) >> 8;
  }
  return ops_.energy8(a, luma.pitch, b, base.pitch_bytes, width, luma.rows, config_.noise_floor);
}

}  // namespace saccade
