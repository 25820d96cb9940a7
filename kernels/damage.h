// Which tiles of the texture differ from the frame.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pyramid_layout.h"

namespace saccade {

// A rectangle of tiles: [x, x + width) x [y, y + height).
struct TileRect {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const TileRect&) const = default;
};

// A bitset over the tiles that cover the image, row-major, with what the differ measured on the way.
// Allocates in the constructor only.
class Damage {
 public:
  Damage() = default;
  explicit Damage(TileGrid grid);

  TileGrid grid() const { return grid_; }
  int count() const { return count_; }
  bool all() const { return count_ == grid_.count(); }
  double share() const { return grid_.count() > 0 ? static_cast<double>(count_) / grid_.count() : 0.0; }
  bool test(int index) const { return (words_[static_cast<std::size_t>(index) >> 6] >> (index & 63)) & 1U; }
  bool test(int tx, int ty) const { return test(ty * grid_.cols + tx); }

  // Motion energy of a tile: over its luma (or RGBA) samples, the sum of max(|frame - texture| - noise floor, 0), in
  // 8-bit code values (16-bit sums are shifted right by 8). 0 where the tile is not damaged.
  std::span<const std::uint32_t> energy() const { return energy_; }
  std::span<const std::uint64_t> words() const { return words_; }

  void clear();
  void set(int index, std::uint32_t energy = 0);  // idempotent; a second call overwrites the energy
  void set_all();                                 // energies become 0: nothing was measured

  // Calls f(index) for each damaged tile in rising order.
  template <typename F>
  void for_each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        f(static_cast<int>(w * 64) + __builtin_ctzll(bits));
      }
    }
  }

  // The rectangles the tiles coalesce to: horizontal runs, equal runs of consecutive rows merged. Together they cover
  // exactly the damaged tiles, without overlap, sorted by (y, x). `out` is overwritten; its capacity is reused.
  void rects(std::vector<TileRect>& out) const;

 private:
  TileGrid grid_;
  int count_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> energy_;
};

// Throws std::invalid_argument unless the damage is of such a texture's tiles.
void check_damage(const Damage& damage, const PyramidLayout& layout);

// Calls f(ty, tx_begin, tx_end) for each maximal run of damaged tiles in a row, in rising order.
template <typename F>
void for_each_run(const Damage& damage, F&& f) {
  const int cols = damage.grid().cols;
  int row = 0;
  int begin = 0;
  int end = 0;  // of the open run in `row`; begin == end: none
  damage.for_each([&](int index) {
    const int x = index - row * cols;
    if (begin < end && x == end && x < cols) {
      ++end;
      return;
    }
    if (begin < end) f(row, begin, end);
    row = index / cols;
    begin = index - row * cols;
    end = begin + 1;
  });
  if (begin < end) f(row, begin, end);
}

// The same for one row of tiles: f(tx_begin, tx_end).
template <typename F>
void for_each_run_in_row(const Damage& damage, int ty, F&& f) {
  const int cols = damage.grid().cols;
  for (int x = 0; x < cols; ++x) {
    if (!damage.test(x, ty)) continue;
    const int begin = x;
    while (x < cols && damage.test(x, ty)) ++x;
    f(begin, x);
  }
}

}  // namespace saccade
