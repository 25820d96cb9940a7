#include "pipeline/gaze/novelty/remembered_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/luma.h"

namespace saccade {
namespace {

constexpr int kTileTexels = kTilePx / 2;  // along a tile of level 1
constexpr int kTexelsOfTile = kTileTexels * kTileTexels;
constexpr int kNoiseStep = 8;  // codes: steps up to this are noise, or what no reader needs
constexpr int kSameMean = 3;   // codes: a mean that is still right
constexpr std::uint8_t kGrey = 128;
constexpr float kScale = 1.0f / kTexelsOfTile;
constexpr std::size_t kReadBeyond = 64;  // CpuOps::tile_detail

}  // namespace

RememberedPicture::RememberedPicture(TileGrid grid, const FrameGeometry& geometry)
    : grid_(grid),
      width_(grid.cols * kTileTexels),
      height_(grid.rows * kTileTexels),
      now_sums_(grid),
      seen_sums_(grid),
      stale_(grid),
      outdated_(grid),
      changed_(grid),
      changed_before_(grid),
      cue_(grid) {
  const auto side = [](int texels) { return static_cast<std::size_t>(std::max(texels, 0)) + 1; };
  const std::size_t texels = side(width_) * side(height_) + kReadBeyond;
  for (auto* picture : {&now_, &before_, &seen_}) picture->assign(texels, kGrey);
  const auto tiles = static_cast<std::size_t>(grid.count());
  for (auto* values : {&unread_, &appeared_, &vanished_}) values->assign(tiles, 0.0f);
  for (auto& sums : sums_) sums.resize(static_cast<std::size_t>(grid.cols));
  stale_.set_all();
  changed_.set_all();
  // Room for the level that is read, padded, in the largest format.
  const int multiple = std::max(kExtentPx, 1 << (geometry.levels - 1));
  const auto padded = [&](int extent) {
    return static_cast<std::size_t>((extent + multiple - 1) / multiple * multiple);
  };
  const std::size_t shrink = geometry.levels > 1 ? 4 : 1;
  image_.reserve(padded(geometry.width_px) * padded(geometry.height_px) / shrink * 4);
}

void RememberedPicture::forget() {
  first_ = true;
  std::fill(seen_.begin(), seen_.end(), kGrey);
  stale_.set_all();
  changed_.set_all();
}

void RememberedPicture::note(const Damage* damage) {
  if (damage == nullptr || damage->grid() != grid_) {
    unknown_ = true;
  } else {
    changed_.add(damage->words());
  }
}

float RememberedPicture::mean_appeared() const {
  return static_cast<float>(static_cast<double>(appeared_sum_) / kTexelsOfTile / static_cast<double>(appeared_.size()));
}

// The tiles that changed, in bands of rows: few and large pieces, as a device may take long over each.
void RememberedPicture::copy_luma(const Levels& levels) {
  constexpr int kGap = 4;  // rows of tiles: bands that are nearer are one
  Box band;                // of tiles
  const auto copy = [&] {
    if (band.bottom == 0) return;
    copy_luma(levels,
              {band.left * kTileTexels, band.top * kTileTexels, band.right * kTileTexels, band.bottom * kTileTexels});
  };
  for (int row = 0; row < grid_.rows; ++row) {
    int left = grid_.cols, right = 0;
    for (const TileSet* tiles : {&changed_, &changed_before_}) {
      tiles->for_each_run_in_row(static_cast<std::size_t>(row), [&](std::size_t begin, std::size_t end) {
        left = std::min(left, static_cast<int>(begin));
        right = std::max(right, static_cast<int>(end));
      });
    }
    if (left >= right) continue;
    if (row > band.bottom + kGap) {
      copy();
      band.bottom = 0;
    }
    const bool begins = band.bottom == 0;
    band = {begins ? left : std::min(band.left, left), begins ? row : band.top,
            begins ? right : std::max(band.right, right), row + 1};
  }
  copy();
}

// Level 1 of luma in 8 bits. A row and a column are repeated.
void RememberedPicture::copy_luma(const Levels& levels, const Box& box) {
  const PlaneLayout& plane = levels.layout().planes[0];
  if (plane.levels > 1 && plane.texel_bytes() == 1) {
    levels.read_texels(0, 1, {box.left, box.top, box.right - box.left, box.bottom - box.top},
                       now_.data() + texel(box.left, box.top), width_ + 1);
  } else {
    convert_luma(levels, box);
  }
  if (box.right == width_) {
    for (int y = box.top; y < box.bottom; ++y) now_[texel(width_, y)] = now_[texel(width_ - 1, y)];
  }
  if (box.bottom == height_) {
    std::copy_n(now_.data() + texel(0, height_ - 1), width_ + 1, now_.data() + texel(0, height_));
  }
}

// From RGB or 16 bits, or the means of four where there is no level 1.
void RememberedPicture::convert_luma(const Levels& levels, const Box& box) {
  const PyramidLayout& layout = levels.layout();
  const PlaneLayout& plane = layout.planes[0];
  const int level = std::min(1, plane.levels - 1), scale = 2 - level;
  const auto bytes = static_cast<std::size_t>(plane.texel_bytes());
  const TexelRect part{scale * box.left, scale * box.top, scale * (box.right - box.left),
                       scale * (box.bottom - box.top)};
  const std::size_t pitch = static_cast<std::size_t>(part.width) * bytes;
  image_.resize(pitch * static_cast<std::size_t>(part.height));
  levels.read_texels(0, level, part, image_.data(), static_cast<std::ptrdiff_t>(pitch));
  const auto luma = [&](std::size_t x, std::size_t y) {
    return luma_of(image_.data() + y * pitch + x * bytes, layout.format);
  };
  for (std::size_t y = 0; y < static_cast<std::size_t>(box.bottom - box.top); ++y) {
    std::uint8_t* const row = now_.data() + texel(box.left, box.top + static_cast<int>(y));
    for (std::size_t x = 0; x < static_cast<std::size_t>(box.right - box.left); ++x) {
      const int code = level == 1 ? luma(x, y)
                                  : (luma(2 * x, 2 * y) + luma(2 * x + 1, 2 * y) + luma(2 * x, 2 * y + 1) +
                                     luma(2 * x + 1, 2 * y + 1) + 2) /
                                        4;
      row[x] = static_cast<std::uint8_t>(code);
    }
  }
}

// Of a row of tiles, [begin, end): into `across` and `down`, the other sums_, now_sums_ and seen_sums_.
void RememberedPicture::measure(std::size_t row, std::size_t begin, std::size_t end,
                                const std::vector<std::uint8_t>& before, int* across, int* down) {
  const std::size_t origin = texel(static_cast<int>(begin) * kTileTexels, static_cast<int>(row) * kTileTexels);
  const DetailRun run{.tiles = static_cast<int>(end - begin),
                      .now = now_.data() + origin,
                      .before = before.data() + origin,
                      .seen = seen_.data() + origin,
                      .pitch = width_ + 1,
                      .next = row > 0 ? -std::ptrdiff_t{kTileTexels} * (width_ + 1) : 0,
                      .noise = kNoiseStep};
  const auto quarters = [&](BlockSums& sums) {
    return std::array{sums.quarters(2 * row) + 2 * begin, sums.quarters(2 * row + 1) + 2 * begin};
  };
  ops_.tile_detail(run, {.across = across,
                         .down = down,
                         .unread = sums_[2].data(),
                         .appeared = sums_[3].data(),
                         .vanished = sums_[4].data(),
                         .now = quarters(now_sums_),
                         .seen = quarters(seen_sums_)});
  seen_sums_.note(2 * row);
}

// The codes of the row below must be up to date.
void RememberedPicture::compare(std::size_t row, std::size_t begin, std::size_t end) {
  measure(row, begin, end, before_, cue_.across(row) + begin, cue_.down(row) + begin);
  now_sums_.note(2 * row);
  cue_.measure(row, begin, end, now_sums_);
  outdated_.clear_run(row, begin, end);
  if (first_) return;
  const std::size_t first = row * static_cast<std::size_t>(grid_.cols) + begin;
  float *const appeared = appeared_.data() + first, *const vanished = vanished_.data() + first;
  const int *const came = sums_[3].data(), *const gone = sums_[4].data();
  int sum = 0;
  for (std::size_t i = 0; i < end - begin; ++i) {
    appeared[i] = static_cast<float>(came[i]) * kScale;
    vanished[i] = static_cast<float>(gone[i]) * kScale;
    sum += came[i];
  }
  appeared_sum_ += sum;
}

// A tile's steps reach the first texels of its neighbours to the right and below.
void RememberedPicture::note_changes() {
  stale_.add(changed_.words());
  if (unknown_) changed_.set_all();
  for (std::size_t row = 0; row < static_cast<std::size_t>(grid_.rows); ++row) {
    changed_.for_each_run_in_row(row, [&](std::size_t begin, std::size_t end) {
      outdated_.set_run(row, std::max<std::size_t>(begin, 1) - 1, end);
      if (row > 0) outdated_.set_run(row - 1, begin, end);
    });
  }
}

void RememberedPicture::read(const Levels& levels) {
  std::swap(now_, before_);
  const bool same_tiles = levels.layout().tiles == grid_;
  unknown_ = unknown_ || !same_tiles;
  note_changes();
  if (same_tiles) copy_luma(levels);
  const auto rows = static_cast<std::size_t>(grid_.rows), cols = static_cast<std::size_t>(grid_.cols);
  int *const across = sums_[0].data(), *const down = sums_[1].data();  // where they are not needed
  for (std::size_t row = 0; row < rows && unknown_; ++row) {
    measure(row, 0, cols, before_, across, down);
    now_sums_.note(2 * row);
  }
  std::fill(appeared_.begin(), appeared_.end(), 0.0f);
  std::fill(vanished_.begin(), vanished_.end(), 0.0f);
  appeared_sum_ = 0;
  for (std::size_t row = rows; row-- > 0;) {
    stale_.for_each_run_in_row(row, [&](std::size_t begin, std::size_t end) {
      outdated_.split(row, begin, end, [&](std::size_t from, std::size_t to, bool outdated) {
        if (outdated) {
          compare(row, from, to);
        } else {
          measure(row, from, to, now_, across, down);  // only what is remembered has changed
        }
        const int* const codes = sums_[2].data();
        float* const unread = unread_.data() + row * cols + from;
        for (std::size_t i = 0; i < to - from; ++i) unread[i] = static_cast<float>(codes[i]) * kScale;
      });
    });
  }
  stale_.clear();
  std::swap(changed_, changed_before_);
  changed_.clear();
  now_sums_.refresh();
  seen_sums_.refresh();
  cue_.rate();
  first_ = false;
  unknown_ = !same_tiles;
}

void RememberedPicture::see_finely(const Box& box) {
  for (int row = box.top; row < box.bottom; ++row) {
    std::copy_n(now_.data() + texel(box.left, row), box.right - box.left, seen_.data() + texel(box.left, row));
  }
  note_seen(box);
}

// What coarse texels show of squares: nothing new where the mean is still right. As the squares are cut by the frame.
void RememberedPicture::see_blocks(const Box& box, int side) {
  for (int y = box.top; y < box.bottom; y += side) {
    for (int x = box.left; x < box.right; x += side) {
      const Box block{std::max(x, 0), std::max(y, 0), std::min(x + side, width_), std::min(y + side, height_)};
      if (block.left >= block.right || block.top >= block.bottom) continue;
      int now = 0, seen = 0;
      for (int row = block.top; row < block.bottom; ++row) {
        for (std::size_t i = texel(block.left, row); i < texel(block.right, row); ++i) {
          now += now_[i];
          seen += seen_[i];
        }
      }
      const int count = (block.right - block.left) * (block.bottom - block.top);
      if (std::abs(now - seen) > kSameMean * count) leave_mean(block, now);
    }
  }
}

// The same for squares of 2 x 2 texels, of a box in the frame whose sides are even.
void RememberedPicture::see_pairs(const Box& box) {
  const std::size_t pitch = texel(0, 1);
  for (int y = box.top; y < box.bottom; y += 2) {
    for (int x = box.left; x < box.right; x += 2) {
      const std::size_t at = texel(x, y), under = at + pitch;
      const int now = now_[at] + now_[at + 1] + now_[under] + now_[under + 1];
      const int seen = seen_[at] + seen_[at + 1] + seen_[under] + seen_[under + 1];
      if (std::abs(now - seen) > kSameMean * 4) leave_mean({x, y, x + 2, y + 2}, now);
    }
  }
}

// The same for squares aligned to their side, of a box in the frame of which nothing was seen since the last read.
void RememberedPicture::see_by_sums(const Box& box, int side, int level) {
  for (int y = box.top; y < box.bottom; y += side) {
    const int* const now = now_sums_.row(level, static_cast<std::size_t>(y / side));
    const int* const seen = seen_sums_.row(level, static_cast<std::size_t>(y / side));
    const int bottom = std::min(y + side, height_);
    for (int x = box.left; x < box.right; x += side) {
      const int right = std::min(x + side, width_), i = x / side;
      if (std::abs(now[i] - seen[i]) > kSameMean * (right - x) * (bottom - y))
        leave_mean({x, y, right, bottom}, now[i]);
    }
  }
}

bool RememberedPicture::any_stale(const Box& box) const {
  for (int y = box.top / kTileTexels; y * kTileTexels < box.bottom; ++y) {
    if (stale_.any_in_row(static_cast<std::size_t>(y), static_cast<std::size_t>(box.left / kTileTexels),
                          static_cast<std::size_t>((box.right + kTileTexels - 1) / kTileTexels))) {
      return true;
    }
  }
  return false;
}

// sum: of the box in the picture as it is.
void RememberedPicture::leave_mean(const Box& box, int sum) {
  const int count = (box.right - box.left) * (box.bottom - box.top);
  const auto mean = static_cast<std::uint8_t>((sum + count / 2) / count);
  const auto width = static_cast<std::size_t>(box.right - box.left);
  for (int row = box.top; row < box.bottom; ++row) {
    std::uint8_t* const texels = seen_.data() + texel(box.left, row);
    if (width == 4) {
      std::memset(texels, mean, 4);  // without a call: most boxes are such
    } else {
      std::memset(texels, mean, width);
    }
  }
  note_seen(box);
}

void RememberedPicture::note_seen(const Box& box) {
  const auto cols = static_cast<std::size_t>(grid_.cols);
  for (int y = box.top / kTileTexels; y * kTileTexels < box.bottom; ++y) {
    for (int x = box.left / kTileTexels; x * kTileTexels < box.right; ++x) {
      stale_.set(static_cast<std::size_t>(y) * cols + static_cast<std::size_t>(x));
    }
  }
}

void RememberedPicture::see(const PatchPlan& plan) {
  for (const Patch& patch : plan.patches) {
    if (!(patch.coverage > 0)) continue;
    const float half_px = 0.5f * std::exp2(patch.lod) * static_cast<float>(plan.patch_size);
    const int left = static_cast<int>(std::floor((patch.x_px - half_px) / 2));
    const int top = static_cast<int>(std::floor((patch.y_px - half_px) / 2));
    const int right = static_cast<int>(std::ceil((patch.x_px + half_px) / 2));
    const int bottom = static_cast<int>(std::ceil((patch.y_px + half_px) / 2));
    const int side = 1 << std::max(static_cast<int>(patch.lod + 0.5f) - 1, 0);
    const Box inside{std::clamp(left, 0, width_), std::clamp(top, 0, height_), std::clamp(right, 0, width_),
                     std::clamp(bottom, 0, height_)};
    const int level = now_sums_.level_of(side);
    if (side == 1) {
      if (inside.left < inside.right) see_finely(inside);
    } else if (side == 2 && (left | top | right | bottom) % 2 == 0) {
      see_pairs(inside);
    } else if (level >= 0 && (left | top | right | bottom) % side == 0 && !any_stale(inside)) {
      see_by_sums(inside, side, level);
    } else {
      see_blocks({left, top, right, bottom}, side);
    }
  }
}

}  // namespace saccade
