#include "kernels/cpu/cpu_tile_differ.h"

#include <algorithm>

#include "kernels/cpu/frame_rows.h"

namespace saccade {

CpuTileDiffer::CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config)
    : CpuTileDiffer(texture, config, texture.ops()) {}

CpuTileDiffer::CpuTileDiffer(const CpuPyramid& texture, const DiffConfig& config, const CpuOps& ops)
    : texture_(texture), ops_(ops), damage_(texture.layout().tiles) {
  std::size_t row_bytes = 0;
  for (int p = 0; p < texture.layout().plane_count; ++p) {
    const PlaneLayout& plane = texture.layout().planes[static_cast<std::size_t>(p)];
    base_[static_cast<std::size_t>(p)] = texture.level_view(p, 0);
    row_bytes =
        std::max(row_bytes, static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.texel_bytes()));
  }
  packed_.resize(row_bytes);
  marks_.resize(row_bytes);
  sums_.resize(static_cast<std::size_t>(texture.layout().tiles.cols));
  configure(config);
}

void CpuTileDiffer::configure(const DiffConfig& config) {
  config_ = config;
  config_.threshold = std::clamp(config.threshold, 0, 256);  // 256: no difference is larger
  config_.min_pixels = std::max(config.min_pixels, 0);
  config_.noise_floor = std::clamp(config.noise_floor, 0, 256);
}

const Damage& CpuTileDiffer::diff(const FrameView& frame) {
  check_frame(frame, texture_.layout());
  if (everything_) {
    damage_.set_all();
    everything_ = false;
    return damage_;
  }
  damage_.clear();
  for (int ty = 0; ty < texture_.layout().tiles.rows; ++ty) diff_tile_row(frame, ty);
  return damage_;
}

void CpuTileDiffer::diff_tile_row(const FrameView& frame, int ty) {
  std::fill(sums_.begin(), sums_.end(), 0U);
  for (int p = 0; p < texture_.layout().plane_count; ++p) mark_plane(frame, p, ty);
  const int cols = texture_.layout().tiles.cols;
  const auto allowed = static_cast<std::uint32_t>(config_.min_pixels);
  for (int tx = 0; tx < cols; ++tx) {
    if (sums_[static_cast<std::size_t>(tx)] > allowed) damage_.set(ty * cols + tx, energy(frame, tx, ty));
  }
}

// Adds to sums_: per tile of the row, more than 0 where bytes are unequal, or the number of samples over the threshold.
void CpuTileDiffer::mark_plane(const FrameView& frame, int plane, int ty) {
  const PlaneLayout& shape = texture_.layout().planes[static_cast<std::size_t>(plane)];
  const LevelView& base = base_[static_cast<std::size_t>(plane)];
  const FrameRows rows(frame, plane, ops_);
  const std::size_t row_bytes =
      static_cast<std::size_t>(shape.image_width) * static_cast<std::size_t>(shape.texel_bytes());
  const bool wide = shape.bytes_per_channel == 2;
  const int y_begin = ty * shape.tile_size();
  const int y_end = std::min(y_begin + shape.tile_size(), shape.image_height);
  std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
  for (int y = y_begin; y < y_end; ++y) {
    const std::uint8_t* row = packed_.data();
    if (rows.direct()) {
      row = rows.direct_row(y);
    } else {
      rows.pack(0, y, shape.image_width, packed_.data());
    }
    if (exact()) {
      ops_.mark_unequal(row, base.row(y), marks_.data(), row_bytes);
    } else if (wide) {
      ops_.count_over16(row, base.row(y), marks_.data(), row_bytes / 2, config_.threshold * 256);
    } else {
      ops_.count_over8(row, base.row(y), marks_.data(), row_bytes, config_.threshold);
    }
  }
  const auto tile_bytes = static_cast<std::size_t>(shape.tile_size() * shape.texel_bytes());
  ops_.sum_marks(marks_.data(), sums_.size(), tile_bytes, sums_.data());
}

std::uint32_t CpuTileDiffer::energy(const FrameView& frame, int tx, int ty) const {
  const PlaneLayout& shape = texture_.layout().planes[0];
  const LevelView& base = base_[0];
  const PlaneView& plane = frame.planes[0];
  const int x = tx * kTilePx;
  const int y = ty * kTilePx;
  const int width = (std::min(x + kTilePx, shape.image_width) - x) * shape.channels;
  const int height = std::min(y + kTilePx, shape.image_height) - y;
  const std::uint8_t* a = plane.data + y * plane.pitch_bytes + x * shape.texel_bytes();
  const std::uint8_t* b = base.row(y) + x * shape.texel_bytes();
  if (shape.bytes_per_channel == 2) {
    const std::uint32_t sum =
        ops_.energy16(a, plane.pitch_bytes, b, base.pitch_bytes, width, height, config_.noise_floor * 256, frame.shift);
    return sum >> 8;
  }
  return ops_.energy8(a, plane.pitch_bytes, b, base.pitch_bytes, width, height, config_.noise_floor);
}

}  // namespace saccade
