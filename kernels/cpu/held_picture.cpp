#include "kernels/cpu/held_picture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/luma.h"
#include "kernels/shared/held.h"

namespace saccade {
namespace {

constexpr auto kGrey = static_cast<std::uint8_t>(shared::kGreyLuma);
constexpr TileChroma kGreyTile{shared::kGreyChroma, shared::kGreyChroma};
constexpr std::size_t kReadBeyond = 64;  // the last texel, by vector code

// Each of 16 texels 2^kLevel times.
template <int kLevel>
void enlarge(const std::uint8_t* texels, std::uint8_t* to) {
  for (int x = 0; x < kTilePx; ++x) std::memset(to + (x << kLevel), texels[x], std::size_t{1} << kLevel);
}
template <>
void enlarge<0>(const std::uint8_t* texels, std::uint8_t* to) {
  std::memcpy(to, texels, kTilePx);
}
template <>
void enlarge<1>(const std::uint8_t* texels, std::uint8_t* to) {
  for (int x = 0; x < kTilePx; ++x) to[2 * x] = to[2 * x + 1] = texels[x];
}
constexpr std::array kEnlarge{enlarge<0>, enlarge<1>, enlarge<2>, enlarge<3>, enlarge<4>};
static_assert(kEnlarge.size() == kSquareLevels);

// Of a tile by its texels in `view`, side x side.
TileChroma chroma_of(const LevelView& view, TextureFormat format, int side, int tx, int ty) {
  const bool rgb = format == TextureFormat::kRgba8;
  const int bytes = format == TextureFormat::kYuv16 ? 2 : 1, texel_bytes = rgb ? 4 : 2 * bytes;
  std::array<int, 3> sums{};
  for (int y = ty * side; y < (ty + 1) * side; ++y) {
    for (int x = tx * side; x < (tx + 1) * side; ++x) {
      const std::uint8_t* const texel = view.row(y) + std::ptrdiff_t{x} * texel_bytes;
      for (std::size_t c = 0; c < (rgb ? 3 : 2); ++c) {
        sums[c] += code_of(texel + c * static_cast<std::size_t>(bytes), bytes);
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
  const std::size_t of_chroma = texture.layout().format == TextureFormat::kRgba8 ? 0 : 1;
  const PlaneLayout& chroma = texture.layout().planes[of_chroma];
  const int chroma_level = shared::chroma_level(chroma.tile_size(), chroma.levels);
  chroma_texels_ = texture.level_view(static_cast<int>(of_chroma), chroma_level);
  chroma_side_ = chroma.tile_size() >> chroma_level;
  for (int d = 0; d < 256; ++d) {
    chroma_errors_[static_cast<std::size_t>(d)] = shared::chroma_error(d, 0, 0, 0, measure.power, measure.noise);
  }
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

// The mean chroma of a row's tiles [begin, end).
void CpuHeldPicture::find_chroma(int ty, int begin, int end) {
  const TextureFormat format = texture_.layout().format;
  TileChroma* const tiles = chroma_.data() + std::ptrdiff_t{ty} * grid_.cols;
  if (chroma_side_ == 1 && format == TextureFormat::kYuv8) {  // a tile's one texel is Cb and Cr
    static_assert(sizeof(TileChroma) == 2);
    std::memcpy(tiles + begin, chroma_texels_.row(ty) + 2 * begin,
                sizeof(TileChroma) * static_cast<std::size_t>(end - begin));
    return;
  }
  for (int tx = begin; tx < end; ++tx) tiles[tx] = chroma_of(chroma_texels_, format, chroma_side_, tx, ty);
}

// Adds to the errors held of a row's tiles [begin, end).
void CpuHeldPicture::compare_chroma(int ty, int begin, int end) {
  const auto error_of = [&](int now, int held) {
    return chroma_errors_[static_cast<std::size_t>(std::abs(now - held))];
  };
  for (auto tile = static_cast<std::size_t>(ty * grid_.cols + begin); begin < end; ++begin, ++tile) {
    const TileChroma now = chroma_[tile], held = held_chroma_[tile];
    held_errors_[tile] = shared::add_errors(held_errors_[tile], error_of(now.cb, held.cb) + error_of(now.cr, held.cr));
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
      if (measure_.chroma) find_chroma(ty, begin, end);
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
  const auto slot = static_cast<std::size_t>(square.level);
  const LevelView& level = luma_[slot];
  const int repeat = 1 << square.level, left = square.x << square.level, top = square.y << square.level;
  const int columns = std::min(repeat, grid_.cols - left), rows = std::min(repeat, grid_.rows - top);
  const auto line_bytes = static_cast<std::size_t>(columns * kTilePx);
  std::array<std::uint8_t, kTilePx << (kSquareLevels - 1)> line;
  for (int y = 0; y < rows * kTilePx >> square.level; ++y) {
    kEnlarge[slot](level.row(square.y * kTilePx + y) + square.x * kTilePx, line.data());
    std::uint8_t* to = held_.data() + (top * kTilePx + y * repeat) * pitch_ + left * kTilePx;
    for (int copy = 0; copy < repeat; ++copy, to += pitch_) std::memcpy(to, line.data(), line_bytes);
  }
  for (int ty = top; ty < top + rows; ++ty) {
    const auto begin = ty * grid_.cols + left;
    std::copy_n(chroma_.begin() + begin, columns, held_chroma_.begin() + begin);
    if (square.level == 0) {
      held_errors_[static_cast<std::size_t>(begin)] = 0;
    } else {
      std::copy_n(mean_errors_[slot - 1].begin() + begin, columns, held_errors_.begin() + begin);
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
