#include "kernels/cpu/held_picture.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/luma.h"
#include "kernels/shared/held.h"

namespace saccade {
namespace {

constexpr auto kGrey = static_cast<std::uint8_t>(shared::kGreyLuma);
constexpr TileChroma kGreyTile{shared::kGreyChroma, shared::kGreyChroma};
constexpr std::size_t kReadBeyond = 64;  // the last texel, by vector code

// Each texel 2^kLevel times, so many of them.
template <int kLevel>
void enlarge(const std::uint8_t* texels, int count, std::uint8_t* to) {
  for (int x = 0; x < count; ++x) std::memset(to + (x << kLevel), texels[x], std::size_t{1} << kLevel);
}
constexpr std::array kEnlarge{enlarge<0>, enlarge<1>, enlarge<2>, enlarge<3>, enlarge<4>};
static_assert(kEnlarge.size() == kSquareLevels);

// Of a tile's texels in the highest level that has some.
TileChroma chroma_of(const CpuPyramid& texture, int tx, int ty) {
  const bool rgb = texture.layout().format == TextureFormat::kRgba8;
  const PlaneLayout& plane = texture.layout().planes[rgb ? 0 : 1];
  const int level = shared::chroma_level(plane.tile_size(), plane.levels), side = plane.tile_size() >> level;
  const LevelView view = texture.level_view(rgb ? 0 : 1, level);
  std::array<int, 3> sums{};
  for (int y = ty * side; y < (ty + 1) * side; ++y) {
    for (int x = tx * side; x < (tx + 1) * side; ++x) {
      const std::uint8_t* const texel = view.row(y) + std::ptrdiff_t{x} * plane.texel_bytes();
      for (std::size_t c = 0; c < (rgb ? 3 : 2); ++c) {
        sums[c] += code_of(texel + c * static_cast<std::size_t>(plane.bytes_per_channel), plane.bytes_per_channel);
      }
    }
  }
  for (int& sum : sums) sum = shared::mean_of_codes(sum, side * side);
  if (!rgb) return {static_cast<std::uint8_t>(sums[0]), static_cast<std::uint8_t>(sums[1])};
  const int luma = shared::luma_of_rgb(sums[0], sums[1], sums[2]);
  return {static_cast<std::uint8_t>(shared::chroma_of_rgb(sums[2], luma)),
          static_cast<std::uint8_t>(shared::chroma_of_rgb(sums[0], luma))};
}

}  // namespace

CpuHeldPicture::CpuHeldPicture(const CpuPyramid& texture, const ErrorMeasure& measure)
    : texture_(texture),
      ops_(texture.ops()),
      measure_(measure),
      grid_(texture.layout().tiles),
      levels_(std::min(texture.layout().levels, kSquareLevels)),
      pitch_(texture.layout().planes[0].width),
      changed_(grid_),
      forgotten_(grid_) {
  const PlaneLayout& plane = texture.layout().planes[0];
  held_.assign(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(plane.height) + kReadBeyond, kGrey);
  for (int l = 0; l < levels_; ++l) {
    const auto slot = static_cast<std::size_t>(l);
    luma_[slot] = texture.level_view(0, l);
    if (texture.layout().format != TextureFormat::kYuv8) {
      LevelView& view = luma_[slot];
      converted_[slot].resize(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height) +
                              kReadBeyond);
      view.data = converted_[slot].data();
      view.pitch_bytes = view.width;
    }
    auto& errors = l == 0 ? held_errors_ : mean_errors_[slot - 1];
    errors.resize(static_cast<std::size_t>(grid_.count()));
  }
  chroma_.assign(static_cast<std::size_t>(grid_.count()), kGreyTile);
  held_chroma_ = chroma_;
  changed_.set_all();
}

void CpuHeldPicture::note(const Damage& damage) { changed_.add(damage.words()); }

// The luma of a row's tiles [begin, end), at all levels.
void CpuHeldPicture::convert(int ty, int begin, int end) {
  const TextureFormat format = texture_.layout().format;
  if (format == TextureFormat::kYuv8) return;
  const std::ptrdiff_t texel_bytes = texture_.layout().planes[0].texel_bytes();
  for (int l = 0; l < levels_; ++l) {
    const auto slot = static_cast<std::size_t>(l);
    const LevelView from = texture_.level_view(0, l);
    const int side = kTilePx >> l;
    for (int y = ty * side; y < (ty + 1) * side; ++y) {
      std::uint8_t* const to = converted_[slot].data() + y * luma_[slot].pitch_bytes;
      for (int x = begin * side; x < end * side; ++x) {
        to[x] = static_cast<std::uint8_t>(luma_of(from.row(y) + x * texel_bytes, format));
      }
    }
  }
}

// Of a row's tiles [begin, end) as `shown` of this level has them; errors: of tile `begin` on.
void CpuHeldPicture::compare(int ty, int begin, int end, int level, const LevelView& shown,
                             std::uint32_t* errors) const {
  const PlaneLayout& plane = texture_.layout().planes[0];
  const int side = kTilePx >> level;
  const ErrorRun run{.tiles = end - begin,
                     .last_width = std::min(kTilePx, plane.image_width - (end - 1) * kTilePx),
                     .rows = std::min(kTilePx, plane.image_height - ty * kTilePx),
                     .now = luma_[0].row(ty * kTilePx) + begin * kTilePx,
                     .pitch = luma_[0].pitch_bytes,
                     .shown = shown.row(ty * side) + begin * side,
                     .shown_pitch = shown.pitch_bytes,
                     .level = level,
                     .power = measure_.power,
                     .noise = measure_.noise};
  ops_.tile_errors(run, errors);
}

// Adds to the errors held of a row's tiles [begin, end).
void CpuHeldPicture::compare_chroma(int ty, int begin, int end) {
  for (int tx = begin; tx < end; ++tx) {
    const auto tile = static_cast<std::size_t>(ty * grid_.cols + tx);
    const TileChroma now = chroma_[tile], held = held_chroma_[tile];
    held_errors_[tile] = shared::add_errors(
        held_errors_[tile], shared::chroma_error(now.cb, held.cb, now.cr, held.cr, measure_.power, measure_.noise));
  }
}

TileErrors CpuHeldPicture::measure() {
  const LevelView held{held_.data(), pitch_, luma_[0].width, luma_[0].height};
  for (int ty = 0; ty < grid_.rows; ++ty) {
    const auto row = static_cast<std::size_t>(ty);
    const auto of_row = [&](std::vector<std::uint32_t>& errors, int begin) {
      return errors.data() + std::ptrdiff_t{ty} * grid_.cols + begin;
    };
    const auto compare_held = [&](std::size_t first, std::size_t past) {
      const int begin = static_cast<int>(first), end = static_cast<int>(past);
      compare(ty, begin, end, 0, held, of_row(held_errors_, begin));
      if (measure_.chroma) compare_chroma(ty, begin, end);
    };
    changed_.for_each_run_in_row(row, [&](std::size_t first, std::size_t past) {
      const int begin = static_cast<int>(first), end = static_cast<int>(past);
      convert(ty, begin, end);
      for (int l = 1; l < levels_; ++l) {
        const auto slot = static_cast<std::size_t>(l);
        compare(ty, begin, end, l, luma_[slot], of_row(mean_errors_[slot - 1], begin));
      }
      for (int tx = begin; measure_.chroma && tx < end; ++tx) {
        chroma_[static_cast<std::size_t>(ty * grid_.cols + tx)] = chroma_of(texture_, tx, ty);
      }
      compare_held(first, past);
    });
    forgotten_.for_each_run_in_row(row, compare_held);
  }
  changed_.clear();
  forgotten_.clear();
  return {held_errors_, {mean_errors_[0], mean_errors_[1], mean_errors_[2], mean_errors_[3]}};
}

void CpuHeldPicture::hold(std::span<const Square> squares) {
  for (const Square& square : squares) hold_one(square);
}

void CpuHeldPicture::hold_one(const Square& square) {
  const LevelView& level = luma_[static_cast<std::size_t>(square.level)];
  const int side = std::min(kTilePx, level.width - square.x * kTilePx), repeat = 1 << square.level;
  for (int y = square.y * kTilePx; y < std::min((square.y + 1) * kTilePx, level.height); ++y) {
    std::uint8_t* const to = held_.data() + y * repeat * pitch_ + square.x * kTilePx * repeat;
    const std::uint8_t* const texels = level.row(y) + square.x * kTilePx;
    kEnlarge[static_cast<std::size_t>(square.level)](texels, side, to);
    for (int copy = 1; copy < repeat; ++copy) {
      std::memcpy(to + copy * pitch_, to, static_cast<std::size_t>(side * repeat));
    }
  }
  const int bottom = std::min((square.y + 1) << square.level, grid_.rows);
  const int right = std::min((square.x + 1) << square.level, grid_.cols);
  for (int ty = square.y << square.level; ty < bottom; ++ty) {
    for (int tx = square.x << square.level; tx < right; ++tx) {
      const auto tile = static_cast<std::size_t>(ty * grid_.cols + tx);
      held_chroma_[tile] = chroma_[tile];
      held_errors_[tile] = square.level == 0 ? 0 : mean_errors_[static_cast<std::size_t>(square.level) - 1][tile];
    }
  }
}

void CpuHeldPicture::forget() {
  std::fill(held_.begin(), held_.end(), kGrey);
  std::fill(held_chroma_.begin(), held_chroma_.end(), kGreyTile);
  forgotten_.set_all();
}

void CpuHeldPicture::forget(const TileRect& tiles) {
  for (int ty = tiles.y; ty < tiles.y + tiles.height; ++ty) {
    forgotten_.set_run(static_cast<std::size_t>(ty), static_cast<std::size_t>(tiles.x),
                       static_cast<std::size_t>(tiles.x + tiles.width));
    std::fill_n(held_chroma_.begin() + (ty * grid_.cols + tiles.x), tiles.width, kGreyTile);
    for (int y = ty * kTilePx; y < (ty + 1) * kTilePx; ++y) {
      std::memset(held_.data() + y * pitch_ + tiles.x * kTilePx, kGrey,
                  static_cast<std::size_t>(tiles.width * kTilePx));
    }
  }
}

}  // namespace saccade
