// The plain update of a persistent texture: tiles are compared and written, then the levels above what changed are made
// from level 0 again, each texel as reduce() makes it.
#include "kernels/tensor/update.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cpu {
namespace {

template <class T>
T* plane_of(const ArrayView& view, int b, int c) {
  return static_cast<T*>(view.data) + b * view.stride_b + c * view.stride_c;
}

// Pixels of a tile that are to be written, by a mask or because a channel differs; and how much the tile differs.
struct TilePixels {
  bool chosen[kTileSize][kTileSize] = {};
  int count = 0;
  float energy = 0;
};

template <class T>
TilePixels compare_tile(const UpdateArgs& args, int b, int x0, int y0) {
  using V = Value<T>;
  const ArrayView& base = args.texture.level[0];
  const int cols = std::min(kTileSize, base.width - x0);
  const int rows = std::min(kTileSize, base.height - y0);
  TilePixels tile;
  // In the order of the kernel: quads of 4 x 4, each over its channels, then the sum of quads.
  float quads[16] = {};
  for (int quad = 0; quad < 16; ++quad) {
    V energy = V(0);
    for (int c = 0; c < base.channels; ++c) {
      const T* before = plane_of<const T>(base, b, c);
      const T* after = plane_of<const T>(args.frame, b, c);
      for (int k = 0; k < 16; ++k) {
        const int x = x0 + quad % 4 * 4 + k % 4;
        const int y = y0 + quad / 4 * 4 + k / 4;
        if (x >= x0 + cols || y >= y0 + rows) continue;
        const V difference = load(after[y * args.frame.stride_y + x * args.frame.stride_x]) -
                             load(before[y * base.stride_y + x * base.stride_x]);
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
    T* out = plane_of<T>(base, b, c);
    const T* in = plane_of<const T>(args.frame, b, c);
    for (int y = y0; y < std::min(y0 + kTileSize, base.height); ++y) {
      for (int x = x0; x < std::min(x0 + kTileSize, base.width); ++x) {
        if (only != nullptr && !only->chosen[y - y0][x - x0]) continue;
        out[y * base.stride_y + x * base.stride_x] = in[y * args.frame.stride_y + x * args.frame.stride_x];
      }
    }
  }
}

// Carried texels of the upper left part of a block at one level. What the block has to the right of it and below is its
// last column and row repeated.
template <class T>
struct Region {
  int width, height;
  std::vector<CarryOf<T>> texels;

  Region(int with_width, int with_height)
      : width(with_width),
        height(with_height),
        texels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}
  CarryOf<T>* row(int y) { return texels.data() + static_cast<std::ptrdiff_t>(width) * std::min(y, height - 1); }
};

// Writes the levels of a channel over the block of `side` pixels a side, a multiple of 2^(levels-1), from (x0, y0) on.
template <class T>
void refresh_block(const ReduceArgs& texture, int b, int c, int x0, int y0, int side) {
  const ArrayView& base = texture.level[0];
  const int coarsest = texture.levels - 1;
  const T* plane = plane_of<const T>(base, b, c);
  Region<T> below(std::min(side, base.width - x0), std::min(side, base.height - y0));
  for (int y = 0; y < below.height; ++y) {
    CarryOf<T>* const row = below.row(y);
    for (int x = 0; x < below.width; ++x) row[x] = carry(plane[(y0 + y) * base.stride_y + (x0 + x) * base.stride_x]);
  }
  for (int level = 1; level <= coarsest; ++level) {
    const ArrayView& out = texture.level[level];
    T* out_plane = plane_of<T>(out, b, c);
    const int half = side / 2;
    Region<T> next(std::min(half, below.width / 2 + 1), std::min(half, below.height / 2 + 1));
    for (int y = 0; y < next.height; ++y) {
      const CarryOf<T>* const top = below.row(2 * y);
      const CarryOf<T>* const bottom = below.row(2 * y + 1);
      CarryOf<T>* const row = next.row(y);
      for (int x = 0; x < next.width; ++x) {
        const int left = std::min(2 * x, below.width - 1);
        const int right = std::min(2 * x + 1, below.width - 1);
        T stored;
        row[x] = join<T>(top[left], top[right], bottom[left], bottom[right], level, &stored);
        const int to_x = (x0 >> level) + x;
        const int to_y = (y0 >> level) + y;
        if (to_x < out.width && to_y < out.height) out_plane[to_y * out.stride_y + to_x * out.stride_x] = stored;
      }
    }
    below = std::move(next);
    side = half;
  }
}

template <class T>
void run(const UpdateArgs& args) {
  const ArrayView& base = args.texture.level[0];
  const int cols = tiles_across(base.width);
  const int rows = tiles_across(base.height);
  const int block = std::max(1 << (args.texture.levels - 1), kTileSize);
  const int blocks = (base.width + block - 1) / block;
  std::vector<bool> stale(static_cast<std::size_t>(blocks) *
                          static_cast<std::size_t>((base.height + block - 1) / block));
  for (int b = 0; b < base.batch; ++b) {
    std::fill(stale.begin(), stale.end(), false);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const int x = col * kTileSize;
        const int y = row * kTileSize;
        const std::int64_t at = (static_cast<std::int64_t>(b) * rows + row) * cols + col;
        TilePixels pixels;
        bool damaged = false;
        if (args.mask == UpdateMask::kTiles) {
          damaged = args.mask_data[b * args.mask_b + row * args.mask_y + col * args.mask_x] != 0;
        } else {
          pixels = args.mask == UpdateMask::kPixels ? masked_tile(args, b, x, y) : compare_tile<T>(args, b, x, y);
          damaged = pixels.count > (args.mask == UpdateMask::kPixels ? 0 : std::max(0, args.min_pixels));
        }
        args.tiles[at] = damaged ? 1 : 0;
        if (args.energy != nullptr) args.energy[at] = damaged ? pixels.energy : 0.0f;
        if (!damaged) continue;
        const bool all = args.mask != UpdateMask::kPixels;
        if (args.frame.data != nullptr) write_tile<T>(args, b, x, y, all ? nullptr : &pixels);
        stale[static_cast<std::size_t>(y / block) * static_cast<std::size_t>(blocks) +
              static_cast<std::size_t>(x / block)] = true;
      }
    }
    if (args.texture.levels < 2) continue;
    for (std::size_t k = 0; k < stale.size(); ++k) {
      if (!stale[k]) continue;
      const int x = static_cast<int>(k) % blocks * block;
      const int y = static_cast<int>(k) / blocks * block;
      for (int c = 0; c < base.channels; ++c) refresh_block<T>(args.texture, b, c, x, y, block);
    }
  }
}

}  // namespace

void update(const UpdateArgs& args) {
  const ArrayView& base = args.texture.level[0];
  if (base.width == 0 || base.height == 0 || base.channels == 0) return;
  by_dtype(base.dtype, [&]<class T>(T) { run<T>(args); });
}

}  // namespace saccade::tensor::cpu
