#include "pipeline/gaze/novelty/remembered_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace saccade {
namespace {

constexpr int kTileTexels = kTilePx / 2;  // along a tile of level 1
constexpr int kNoiseStep = 8;             // codes: steps up to this are noise, or what no reader needs
constexpr int kSameMean = 3;              // codes: a mean that is still right
constexpr std::uint8_t kGrey = 128;

// The larger step to the right and below, beyond noise.
int step_at(const std::uint8_t* texel, std::size_t pitch) {
  const int right = std::abs(texel[0] - texel[1]);
  const int below = std::abs(texel[0] - texel[pitch]);
  return std::max(std::max(right, below) - kNoiseStep, 0);
}

}  // namespace

RememberedPicture::RememberedPicture(TileGrid grid, const FrameGeometry& geometry)
    : grid_(grid), width_(grid.cols * kTileTexels), height_(grid.rows * kTileTexels), cue_(grid) {
  const auto side = [](int texels) { return static_cast<std::size_t>(std::max(texels, 0)) + 1; };
  const std::size_t texels = side(width_) * side(height_);
  for (auto* picture : {&now_, &before_, &seen_}) picture->assign(texels, kGrey);
  const auto tiles = static_cast<std::size_t>(grid.count());
  stale_.assign(tiles, 1);
  unread_.assign(tiles, 0.0f);
  appeared_.assign(tiles, 0.0f);
  vanished_.assign(tiles, 0.0f);
  // Room for the level that is read, padded, in the largest format.
  const int multiple = std::max(kExtentPx, 1 << (geometry.levels - 1));
  const auto padded = [&](int extent) {
    return static_cast<std::size_t>((extent + multiple - 1) / multiple * multiple);
  };
  const std::size_t shrink = geometry.levels > 1 ? 4 : 1;
  image_.data.reserve(padded(geometry.width_px) * padded(geometry.height_px) / shrink * 4);
}

void RememberedPicture::forget() {
  first_ = true;
  std::fill(seen_.begin(), seen_.end(), kGrey);
  std::fill(stale_.begin(), stale_.end(), std::uint8_t{1});
}

void RememberedPicture::note(const Damage& damage) {
  if (damage.grid() != grid_) return;
  damage.for_each([this](int tile) { stale_[static_cast<std::size_t>(tile)] = 1; });
}

// Level 1 of luma in 8 bits, or the means of four where there is no level 1.
void RememberedPicture::copy_luma(const Levels& levels) {
  const PyramidLayout& layout = levels.layout();
  const PlaneLayout& plane = layout.planes[0];
  const int level = std::min(1, plane.levels - 1);
  levels.read_level(0, level, image_);
  const auto texel = static_cast<std::size_t>(plane.texel_bytes());
  const bool rgba = layout.format == TextureFormat::kRgba8, wide = plane.bytes_per_channel == 2;
  const auto luma = [&](std::size_t x, std::size_t y) -> int {
    const std::uint8_t* at = image_.data.data() + (y * static_cast<std::size_t>(image_.width) + x) * texel;
    if (rgba) return (at[0] + 2 * at[1] + at[2] + 2) / 4;
    if (!wide) return *at;
    std::uint16_t code = 0;
    std::copy_n(at, 2, reinterpret_cast<std::uint8_t*>(&code));
    return code >> 8;
  };
  const auto width = static_cast<std::size_t>(width_), height = static_cast<std::size_t>(height_);
  for (std::size_t y = 0; y < height; ++y) {
    std::uint8_t* const row = now_.data() + y * (width + 1);
    if (level == 1 && !rgba && !wide) {
      std::copy_n(image_.data.data() + y * static_cast<std::size_t>(image_.width), width, row);
    } else {
      for (std::size_t x = 0; x < width; ++x) {
        const int code = level == 1 ? luma(x, y)
                                    : (luma(2 * x, 2 * y) + luma(2 * x + 1, 2 * y) + luma(2 * x, 2 * y + 1) +
                                       luma(2 * x + 1, 2 * y + 1) + 2) /
                                          4;
        row[x] = static_cast<std::uint8_t>(code);
      }
    }
    row[width] = row[width - 1];
  }
  std::copy_n(now_.data() + (height - 1) * (width + 1), width + 1, now_.data() + height * (width + 1));
}

void RememberedPicture::compare(std::size_t tile) {
  const std::size_t pitch = static_cast<std::size_t>(width_) + 1;
  const auto cols = static_cast<std::size_t>(grid_.cols);
  const std::size_t origin = tile / cols * kTileTexels * pitch + tile % cols * kTileTexels;
  int unread = 0, appeared = 0, vanished = 0;
  for (int y = 0; y < kTileTexels; ++y) {
    const std::size_t row = origin + static_cast<std::size_t>(y) * pitch;
    for (std::size_t i = row; i < row + kTileTexels; ++i) {
      const int there = step_at(now_.data() + i, pitch);
      unread += std::max(there - step_at(seen_.data() + i, pitch), 0);
      const int was = step_at(before_.data() + i, pitch);
      appeared += std::max(there - was, 0);
      vanished += std::max(was - there, 0);
    }
  }
  constexpr float kScale = 1.0f / (kTileTexels * kTileTexels);
  unread_[tile] = static_cast<float>(unread) * kScale;
  appeared_[tile] = static_cast<float>(appeared) * kScale;
  vanished_[tile] = static_cast<float>(vanished) * kScale;
  cue_.measure(tile, now_, kNoiseStep);
}

void RememberedPicture::read(const Levels& levels) {
  std::swap(now_, before_);
  if (levels.layout().tiles == grid_) copy_luma(levels);
  for (std::size_t tile = 0; tile < stale_.size(); ++tile) {
    if (stale_[tile] == 0) {
      appeared_[tile] = vanished_[tile] = 0;
      continue;
    }
    compare(tile);
    if (first_) appeared_[tile] = vanished_[tile] = 0;
    stale_[tile] = 0;
  }
  cue_.rate();
  first_ = false;
}

// What a coarse texel shows of a square: nothing new where its mean is still right.
void RememberedPicture::see_block(int x, int y, int side) {
  const int right = std::min(x + side, width_), bottom = std::min(y + side, height_);
  x = std::max(x, 0);
  y = std::max(y, 0);
  if (x >= right || y >= bottom) return;
  const std::size_t pitch = static_cast<std::size_t>(width_) + 1;
  int now = 0, seen = 0;
  for (int row = y; row < bottom; ++row) {
    const std::size_t begin = static_cast<std::size_t>(row) * pitch;
    for (int col = x; col < right; ++col) {
      now += now_[begin + static_cast<std::size_t>(col)];
      seen += seen_[begin + static_cast<std::size_t>(col)];
    }
  }
  const int count = (right - x) * (bottom - y);
  if (std::abs(now - seen) <= kSameMean * count) return;
  const auto mean = static_cast<std::uint8_t>((now + count / 2) / count);
  for (int row = y; row < bottom; ++row) {
    std::fill_n(seen_.data() + static_cast<std::size_t>(row) * pitch + x, right - x, mean);
  }
  for (int row = y / kTileTexels; row <= (bottom - 1) / kTileTexels; ++row) {
    for (int col = x / kTileTexels; col <= (right - 1) / kTileTexels; ++col) {
      stale_[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.cols) + static_cast<std::size_t>(col)] = 1;
    }
  }
}

void RememberedPicture::see(const PatchPlan& plan) {
  const std::size_t pitch = static_cast<std::size_t>(width_) + 1;
  for (const Patch& patch : plan.patches) {
    if (!(patch.coverage > 0)) continue;
    const float half_px = 0.5f * std::exp2(patch.lod) * static_cast<float>(plan.patch_size);
    const int left = static_cast<int>(std::floor((patch.x_px - half_px) / 2));
    const int top = static_cast<int>(std::floor((patch.y_px - half_px) / 2));
    const int right = static_cast<int>(std::ceil((patch.x_px + half_px) / 2));
    const int bottom = static_cast<int>(std::ceil((patch.y_px + half_px) / 2));
    const int side = 1 << std::max(static_cast<int>(patch.lod + 0.5f) - 1, 0);
    if (side > 1) {
      for (int y = top; y < bottom; y += side) {
        for (int x = left; x < right; x += side) see_block(x, y, side);
      }
      continue;
    }
    const int x0 = std::clamp(left, 0, width_), x1 = std::clamp(right, x0, width_);
    for (int y = std::max(top, 0); y < std::min(bottom, height_); ++y) {
      const std::size_t row = static_cast<std::size_t>(y) * pitch + static_cast<std::size_t>(x0);
      std::copy_n(now_.data() + row, x1 - x0, seen_.data() + row);
    }
    for (int row = std::max(top, 0) / kTileTexels; row * kTileTexels < std::min(bottom, height_); ++row) {
      for (int col = x0 / kTileTexels; col * kTileTexels < x1; ++col) {
        stale_[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.cols) + static_cast<std::size_t>(col)] =
            1;
      }
    }
  }
}

}  // namespace saccade
