// Which tiles must be looked at again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pyramid_layout.h"

namespace saccade {

// A bitset over tiles, row-major, in the form of Damage::words(). Allocates in the constructor only.
class TileSet {
 public:
  explicit TileSet(TileGrid grid)
      : cols_(static_cast<std::size_t>(grid.cols)), words_((static_cast<std::size_t>(grid.count()) + 63) / 64) {}

  void set(std::size_t tile) { words_[tile / 64] |= std::uint64_t{1} << tile % 64; }
  // Tiles [begin, end) of a row.
  void set_run(std::size_t row, std::size_t begin, std::size_t end) { change(row, begin, end, true); }
  void clear_run(std::size_t row, std::size_t begin, std::size_t end) { change(row, begin, end, false); }
  void set_all() { std::fill(words_.begin(), words_.end(), ~std::uint64_t{0}); }
  std::span<const std::uint64_t> words() const { return words_; }
  void clear() { std::fill(words_.begin(), words_.end(), std::uint64_t{0}); }
  // Of the same grid.
  void add(std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= words[i];
  }

  // Whether one of tiles [begin, end) of a row is in it.
  bool any_in_row(std::size_t row, std::size_t begin, std::size_t end) const {
    return next(row * cols_ + begin, row * cols_ + end, 0) < row * cols_ + end;
  }
  // Calls f(begin, end, inside) for each maximal run of tiles [begin, end) of a row that are all in it, or all are not.
  template <typename F>
  void split(std::size_t row, std::size_t begin, std::size_t end, F&& f) const {
    const std::size_t first = row * cols_;
    while (begin < end) {
      const bool inside = (words_[(first + begin) / 64] >> (first + begin) % 64 & 1U) != 0;
      const std::size_t past = next(first + begin, first + end, inside ? ~std::uint64_t{0} : 0) - first;
      f(begin, past, inside);
      begin = past;
    }
  }
  // Calls f(begin, end) for each maximal run of tiles in a row, in rising order.
  template <typename F>
  void for_each_run_in_row(std::size_t row, F&& f) const {
    const std::size_t first = row * cols_, past = first + cols_;
    for (std::size_t begin = next(first, past, 0); begin < past;) {
      const std::size_t end = next(begin, past, ~std::uint64_t{0});
      f(begin - first, end - first);
      begin = next(end, past, 0);
    }
  }

 private:
  void change(std::size_t row, std::size_t begin, std::size_t end, bool into) {
    std::size_t at = row * cols_ + begin;
    const std::size_t past = row * cols_ + end;
    while (at < past) {
      const std::size_t bits = std::min(past - at, 64 - at % 64);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits) << at % 64;
      words_[at / 64] = into ? words_[at / 64] | mask : words_[at / 64] & ~mask;
      at += bits;
    }
  }
  // The first tile of [at, past) that is in the set (flip: 0) or is not (flip: all ones). past: none.
  std::size_t next(std::size_t at, std::size_t past, std::uint64_t flip) const {
    while (at < past) {
      const std::uint64_t bits = (words_[at / 64] ^ flip) >> at % 64;
      if (bits != 0) return std::min(at + static_cast<std::size_t>(std::countr_zero(bits)), past);
      at = (at / 64 + 1) * 64;
    }
    return past;
  }

  std::size_t cols_;
  std::vector<std::uint64_t> words_;
};

}  // namespace saccade
