// The plain update of a persistent texture, block by block: tiles are compared and written, then the levels of a block
// that changed are made from level 0 again, as reduce() makes them.
#include "kernels/tensor/update.h"

#include <algorithm>
#include <cstring>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cpu/levels.h"

namespace saccade::tensor::cpu {
namespace {

// Pixels of a tile that are to be written, by a mask or because a channel differs; and how much the tile differs.
struct TilePixels {
  bool chosen[kTileSize][kTileSize] = {};
  int count = 0;
  float energy = 0;
};

// Whether a tile has the frame's bits already, as most have: whole rows at once. false: perhaps.
template <class T>
bool is_same(const UpdateArgs& args, int b, int x0, int y0) {
  const ArrayView& base = args.texture.level[0];
  if (base.stride_x != 1 || args.frame.stride_x != 1) return false;
  const auto bytes = static_cast<std::size_t>(std::min(kTileSize, base.width - x0)) * sizeof(T);
  for (int c = 0; c < base.channels; ++c) {
    const T* before = plane_of<const T>(base, std::int64_t{b} * base.channels + c) + x0;
    const T* after = plane_of<const T>(args.frame, std::int64_t{b} * base.channels + c) + x0;
    for (int y = y0; y < std::min(y0 + kTileSize, base.height); ++y) {
      if (std::memcmp(before + y * base.stride_y, after + y * args.frame.stride_y, bytes) != 0) return false;
    }
  }
  return true;
}

template <class T>
TilePixels compare_tile(const UpdateArgs& args, int b, int x0, int y0) {
  using V = Value<T>;
  const ArrayView& base = args.texture.level[0];
  const int cols = std::min(kTileSize, base.width - x0);
  const int rows = std::min(kTileSize, base.height - y0);
  TilePixels tile;
  if (is_same<T>(args, b, x0, y0)) return tile;
  // In the order of the kernel: quads of 4 x 4, each over its channels, then the sum of quads.
  float quads[16] = {};
  for (int quad = 0; quad < 16; ++quad) {
    V energy = V(0);
    for (int c = 0; c < base.channels; ++c) {
      const T* before = plane_of<const T>(base, std::int64_t{b} * base.channels + c);
      const T* after = plane_of<const T>(args.frame, std::int64_t{b} * base.channels + c);
      for (int k = 0; k < 16; ++k) {
        const int x = x0 + quad % 4 * 4 + k % 4;
        const int y = y0 + quad / 4 * 4 + k / 4;
        if (x >= x0 + cols || y >= y0 + rows) continue;
        const T is = after[y * args.frame.stride_y + x * args.frame.stride_x];
        const T was = before[y * base.stride_y + x * base.stride_x];
        if (same_bits(is, was)) continue;
        const V difference = load(is) - load(was);
        const V size = difference < V(0) ? -difference : difference;
        energy += size;
        bool& chosen = tile.chosen[y - y0][x - x0];
        if (!(size <= static_cast<V>(args.threshold)) && !chosen) {
          chosen = true;
          ++tile.count;
        }
      }
    }
    quads[quad] = static_cast<float>(energy);
  }
  for (const float energy : quads) tile.energy += energy;
  return tile;
}

TilePixels masked_tile(const UpdateArgs& args, int b, int x0, int y0) {
  const ArrayView& base = args.texture.level[0];
  TilePixels tile;
  for (int y = y0; y < std::min(y0 + kTileSize, base.height); ++y) {
    for (int x = x0; x < std::min(x0 + kTileSize, base.width); ++x) {
      if (args.mask_data[b * args.mask_b + y * args.mask_y + x * args.mask_x] == 0) continue;
      tile.chosen[y - y0][x - x0] = true;
      ++tile.count;
    }
  }
  return tile;
}

template <class T>
void write_tile(const UpdateArgs& args, int b, int x0, int y0, const TilePixels* only) {
  const ArrayView& base = args.texture.level[0];
  for (int c = 0; c < base.channels; ++c) {
    T* out = plane_of<T>(base, std::int64_t{b} * base.channels + c);
    const T* in = plane_of<const T>(args.frame, std::int64_t{b} * base.channels + c);
    for (int y = y0; y < std::min(y0 + kTileSize, base.height); ++y) {
      for (int x = x0; x < std::min(x0 + kTileSize, base.width); ++x) {
        if (only != nullptr && !only->chosen[y - y0][x - x0]) continue;
        out[y * base.stride_y + x * base.stride_x] = in[y * args.frame.stride_y + x * args.frame.stride_x];
      }
    }
  }
}

// Compares the tile at (x, y) or reads its mask, and writes what is new. Returns whether it was damaged.
template <class T>
bool update_tile(const UpdateArgs& args, int b, int x, int y) {
  const ArrayView& base = args.texture.level[0];
  const int row = y / kTileSize;
  const int col = x / kTileSize;
  TilePixels pixels;
  bool damaged = false;
  if (args.mask == UpdateMask::kTiles) {
    damaged = args.mask_data[b * args.mask_b + row * args.mask_y + col * args.mask_x] != 0;
  } else {
    pixels = args.mask == UpdateMask::kPixels ? masked_tile(args, b, x, y) : compare_tile<T>(args, b, x, y);
    damaged = pixels.count > (args.mask == UpdateMask::kPixels ? 0 : std::max(0, args.min_pixels));
  }
  const std::int64_t rows = tiles_across(base.height);
  const std::int64_t at = (b * rows + row) * tiles_across(base.width) + col;
  args.tiles[at] = damaged ? 1 : 0;
  if (args.energy != nullptr) args.energy[at] = damaged ? pixels.energy : 0.0f;
  if (!damaged || args.frame.data == nullptr) return damaged;
  write_tile<T>(args, b, x, y, args.mask == UpdateMask::kPixels ? &pixels : nullptr);
  return true;
}

// Makes levels 1 to 6 of a block again, of all channels; at the edge also what is carried of the blocks beyond it.
template <class T>
void refresh_block(const ReduceArgs& texture, int b, int x0, int y0, int side, const Carried<T>& carried) {
  const ArrayView& base = texture.level[0];
  const bool carries = carried.texels != nullptr;
  const int right = carries && x0 + side >= base.width ? side : 0;
  const int below = carries && y0 + side >= base.height ? side : 0;
  for (int c = 0; c < base.channels; ++c) {
    const std::int64_t number = static_cast<std::int64_t>(b) * base.channels + c;
    for (int y = y0; y <= y0 + below; y += side) {
      fine_levels<T>(texture, number, {x0, y, side + right, side}, carried);
    }
  }
}

template <class T>
void run(const UpdateArgs& args) {
  const ReduceArgs& texture = args.texture;
  const ArrayView& base = texture.level[0];
  const int side = std::clamp(1 << (texture.levels - 1), kTileSize, kPartHeight);
  const bool coarse = texture.levels - 1 > kFineLevels;
  // without a workspace nobody kept what the blocks that did not change had carried
  const bool whole = coarse && texture.workspace == nullptr;
  const Carried<T> carried = carried_of<T>(texture);
  for (int b = 0; b < base.batch; ++b) {
    bool any = false;
    for (int y0 = 0; y0 < base.height; y0 += side) {
      for (int x0 = 0; x0 < base.width; x0 += side) {
        bool stale = false;
        for (int y = y0; y < std::min(y0 + side, base.height); y += kTileSize) {
          for (int x = x0; x < std::min(x0 + side, base.width); x += kTileSize) {
            stale = update_tile<T>(args, b, x, y) || stale;
          }
        }
        any = any || stale;
        if (stale && !whole && texture.levels > 1) refresh_block<T>(texture, b, x0, y0, side, carried);
      }
    }
    if (!any || !coarse) continue;
    const std::int64_t first = static_cast<std::int64_t>(b) * base.channels;
    if (whole) make_levels<T>(texture, first, first + base.channels, 1);
    for (int c = 0; c < base.channels && !whole; ++c) coarse_levels<T>(texture, first + c, carried);
  }
}

}  // namespace

void update(const UpdateArgs& args) {
  const ArrayView& base = args.texture.level[0];
  if (base.width == 0 || base.height == 0 || base.channels == 0) return;
  by_dtype(base.dtype, [&]<class T>(T) { run<T>(args); });
}

}  // namespace saccade::tensor::cpu
