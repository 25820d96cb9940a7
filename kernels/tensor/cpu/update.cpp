// The update of a persistent texture on the host, a row of blocks at a time: tiles are compared and written, then the
// levels of the blocks that changed are made from level 0 again, as reduce() makes them.
#include "kernels/tensor/update.h"

#include <algorithm>
#include <cstring>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/levels.h"
#include "kernels/tensor/cpu/tile_marks.h"

namespace saccade::tensor::cpu {
namespace {

constexpr int kTilesTogether = 8;  // whose pixels are copied at once, where they have to be
constexpr std::int64_t kPixelsForAThread = std::int64_t{1} << 18;

// Rows of blocks of one texture, one after the other.
template <class T>
class Updater {
 public:
  Updater(const UpdateArgs& args, int side, const Carried<T>& carried, bool refreshes)
      : args_(args), base_(args.texture.level[0]), side_(side), carried_(carried), refreshes_(refreshes) {}

  void run(int b, int y0) {
    for (int x0 = 0; x0 < base_.width; x0 += kStripWidth) {
      const Rectangle blocks{x0, y0, std::min(kStripWidth, base_.width - x0), std::min(side_, base_.height - y0)};
      bool stale[kStripWidth / kTilePx + 1] = {};
      for (int y = y0; y < y0 + blocks.height; y += kTilePx) {
        const Rectangle tiles{x0, y, blocks.width, std::min(kTilePx, base_.height - y)};
        args_.mask == UpdateMask::kDiff ? compare(b, tiles, stale) : take_masked(b, tiles, stale);
      }
      if (refreshes_) refresh(b, blocks, stale);
    }
  }

 private:
  struct Frame;
  struct Texture;

  // A row of tiles against the texture: first whether anything differs at all, as it mostly does not.
  void compare(int b, const Rectangle& at, bool* stale) {
    marks_.mark(base_, args_.frame, b, at);
    const int count = tiles_across(at.width);
    for (int first = 0; first < count; ++first) {
      int last = first;
      while (last < count && last < first + kTilesTogether && marks_.any_in(last)) ++last;
      if (last == first) {
        note(b, tile_of(at, first), false, 0);
        continue;
      }
      const Rectangle run{at.x + first * kTilePx, at.y, std::min(last * kTilePx, at.width) - first * kTilePx,
                          at.height};
      const Strip<T> is = strip_of<Frame, T>(args_.frame, b, run);
      const Strip<T> was = strip_of<Texture, T>(base_, b, run);
      for (int tile = first; tile < last; ++tile) {
        const int x = (tile - first) * kTilePx;
        stale[tile * kTilePx / side_] |= take(b, tile_of(at, tile), is.from(x), was.from(x));
      }
      first = last - 1;
    }
  }

  static Rectangle tile_of(const Rectangle& row, int tile) {
    const int x = tile * kTilePx;
    return {row.x + x, row.y, std::min(kTilePx, row.width - x), row.height};
  }

  bool take(int b, const Rectangle& tile, const Strip<T>& is, const Strip<T>& was) {
    float energy = 0;
    const bool damaged = differs(tile, is, was, &energy);
    note(b, tile, damaged, energy);
    if (damaged) write(b, tile, is, nullptr);
    return damaged;
  }

  // Whether enough samples of a tile differ, and by how much.
  bool differs(const Rectangle& tile, const Strip<T>& is, const Strip<T>& was, float* energy) const {
    TileSums<T> sums;
    const bool is_whole = tile.width == kTilePx;
    const bool is_exact = !std::is_same_v<T, std::uint8_t> || base_.channels <= kMostExactChannels;
    const auto compare = is_exact ? tile_ops<T>().compare : plain::compare<T>;
    for (int c = 0; c < base_.channels; ++c) {
      TileChannel<T> now{is.row(c, 0), is.pitch};
      TileChannel<T> before{was.row(c, 0), was.pitch};
      T rows[2][kTilePx * kTilePx];
      if (!is_whole) {  // the columns beyond the edge are equal
        std::memset(rows, 0, sizeof rows);
        for (int y = 0; y < tile.height; ++y) {
          std::copy_n(is.row(c, y), tile.width, rows[0] + y * kTilePx);
          std::copy_n(was.row(c, y), tile.width, rows[1] + y * kTilePx);
        }
        now = {rows[0], kTilePx};
        before = {rows[1], kTilePx};
      }
      compare(now, before, tile.height, static_cast<Value<T>>(args_.threshold), &sums);
    }
    for (const Value<T> quad : sums.quads) *energy += static_cast<float>(quad);
    return sums.over > std::max(0, args_.min_samples);
  }

  // A row of tiles as the mask says.
  void take_masked(int b, const Rectangle& at, bool* stale) {
    for (int x = 0; x < at.width; x += kTilePx) {
      const Rectangle tile{at.x + x, at.y, std::min(kTilePx, at.width - x), at.height};
      std::uint8_t chosen[kTilePx][kTilePx];
      const bool by_tiles = args_.mask == UpdateMask::kTiles;
      const bool damaged = by_tiles ? mask_at(b, tile.y / kTilePx, tile.x / kTilePx) != 0 : read_mask(b, tile, chosen);
      note(b, tile, damaged, 0);
      if (!damaged) continue;
      stale[x / side_] = true;
      if (args_.frame.data == nullptr) continue;
      write(b, tile, strip_of<Frame, T>(args_.frame, b, tile), by_tiles ? nullptr : chosen);
    }
  }

  std::uint8_t mask_at(int b, int y, int x) const {
    return args_.mask_data[b * args_.mask_b + y * args_.mask_y + x * args_.mask_x];
  }

  // The mask's pixels of a tile; returns whether there is one.
  bool read_mask(int b, const Rectangle& tile, std::uint8_t (*chosen)[kTilePx]) const {
    std::uint64_t any = 0;
    for (int y = 0; y < tile.height; ++y) {
      std::uint64_t words[2] = {};
      if (args_.mask_x == 1 && tile.width == kTilePx) {
        const std::uint8_t* row = args_.mask_data + b * args_.mask_b + (tile.y + y) * args_.mask_y + tile.x;
        std::memcpy(words, row, sizeof words);
      } else {
        std::uint8_t row[kTilePx] = {};
        for (int x = 0; x < tile.width; ++x) row[x] = mask_at(b, tile.y + y, tile.x + x);
        std::memcpy(words, row, sizeof words);
      }
      std::memcpy(chosen[y], words, sizeof words);
      any |= words[0] | words[1];
    }
    return any != 0;
  }

  void note(int b, const Rectangle& tile, bool damaged, float energy) const {
    const std::int64_t rows = tiles_across(base_.height);
    const std::int64_t at = (b * rows + tile.y / kTilePx) * tiles_across(base_.width) + tile.x / kTilePx;
    args_.tiles[at] = damaged ? 1 : 0;
    if (args_.energy != nullptr) args_.energy[at] = damaged ? energy : 0.0f;
  }

  // Writes a tile of level 0, or those pixels of it that are chosen.
  void write(int b, const Rectangle& tile, const Strip<T>& from, const std::uint8_t (*chosen)[kTilePx]) const {
    const bool is_plain = base_.stride_x == 1 && chosen == nullptr && tile.width == kTilePx;
    for (int c = 0; c < base_.channels; ++c) {
      T* out =
          plane_of<T>(base_, std::int64_t{b} * base_.channels + c) + tile.y * base_.stride_y + tile.x * base_.stride_x;
      for (int y = 0; y < tile.height; ++y, out += base_.stride_y) {
        const T* in = from.row(c, y);
        if (is_plain) {
          std::memcpy(out, in, kTileBytes);
          continue;
        }
        for (int x = 0; x < tile.width; ++x) {
          T& texel = out[x * base_.stride_x];
          texel = chosen == nullptr || chosen[y][x] != 0 ? in[x] : texel;
        }
      }
    }
  }

  // Makes levels 1 to 6 of the blocks that changed, of all channels; neighbours together.
  void refresh(int b, const Rectangle& blocks, const bool* stale) const {
    const int count = (blocks.width + side_ - 1) / side_;
    for (int first = 0; first < count; ++first) {
      if (!stale[first]) continue;
      int last = first;
      while (last + 1 < count && stale[last + 1]) ++last;
      refresh_run(b, {blocks.x + first * side_, blocks.y, (last + 1 - first) * side_, side_});
      first = last;
    }
  }

  // At the edge also what is carried of the blocks beyond it.
  void refresh_run(int b, Part part) const {
    const bool carries = carried_.texels != nullptr;
    const int below = carries && part.y + side_ >= base_.height ? side_ : 0;
    if (carries && part.x + part.width >= base_.width) part.width += side_;
    for (int c = 0; c < base_.channels; ++c) {
      const std::int64_t number = static_cast<std::int64_t>(b) * base_.channels + c;
      for (int y = part.y; y <= part.y + below; y += side_) {
        fine_levels<T>(args_.texture, number, {part.x, y, part.width, part.height}, carried_);
      }
    }
  }

  static constexpr std::size_t kTileBytes = kTilePx * sizeof(T);

  const UpdateArgs& args_;
  const ArrayView& base_;
  const int side_;
  const Carried<T> carried_;
  const bool refreshes_;
  TileMarks<T> marks_;
};

template <class T>
void run(const UpdateArgs& args, int threads) {
  const ReduceArgs& texture = args.texture;
  const ArrayView& base = texture.level[0];
  const int side = std::clamp(1 << (texture.levels - 1), kTilePx, kPartHeight);
  const bool coarse = texture.levels - 1 > kFineLevels;
  // without a workspace nobody kept what the blocks that did not change had carried
  const bool whole = coarse && texture.workspace == nullptr;
  const Carried<T> carried = carried_of<T>(texture);
  const std::int64_t rows = (base.height + side - 1) / side;
  const std::int64_t pixels = std::int64_t{side} * base.width * base.channels;
  parallel_for(base.batch * rows, kPixelsForAThread / pixels + 1, threads, [&](std::int64_t first, std::int64_t last) {
    Updater<T> updater(args, side, carried, !whole && texture.levels > 1);
    for (std::int64_t k = first; k < last; ++k) {
      updater.run(static_cast<int>(k / rows), static_cast<int>(k % rows) * side);
    }
  });
  const std::int64_t tiles = std::int64_t{tiles_across(base.height)} * tiles_across(base.width);
  for (int b = 0; coarse && b < base.batch; ++b) {
    if (std::memchr(args.tiles + b * tiles, 1, static_cast<std::size_t>(tiles)) == nullptr) continue;
    const std::int64_t first = static_cast<std::int64_t>(b) * base.channels;
    if (whole) make_levels<T>(texture, first, first + base.channels, threads);
    for (int c = 0; c < base.channels && !whole; ++c) coarse_levels<T>(texture, first + c, carried);
  }
}

}  // namespace

void update(const UpdateArgs& args, int threads) {
  const ArrayView& base = args.texture.level[0];
  if (base.width == 0 || base.height == 0 || base.channels == 0) return;
  by_dtype(base.dtype, [&]<class T>(T) { run<T>(args, threads); });
}

}  // namespace saccade::tensor::cpu
