#include "kernels/damage.h"

#include <algorithm>

namespace saccade {

Damage::Damage(TileGrid grid)
    : grid_(grid),
      words_((static_cast<std::size_t>(grid.count()) + 63) / 64),
      energy_(static_cast<std::size_t>(grid.count())) {}

void Damage::clear() {
  if (count_ == 0) return;
  std::fill(words_.begin(), words_.end(), 0);
  std::fill(energy_.begin(), energy_.end(), 0);
  count_ = 0;
}

void Damage::set(int index, std::uint32_t energy) {
  const std::uint64_t bit = std::uint64_t{1} << (index & 63);
  std::uint64_t& word = words_[static_cast<std::size_t>(index) >> 6];
  count_ += (word & bit) == 0 ? 1 : 0;
  word |= bit;
  energy_[static_cast<std::size_t>(index)] = energy;
}

void Damage::set_all() {
  const int total = grid_.count();
  std::fill(words_.begin(), words_.end(), ~std::uint64_t{0});
  if ((total & 63) != 0) words_.back() = (std::uint64_t{1} << (total & 63)) - 1;
  std::fill(energy_.begin(), energy_.end(), 0);
  count_ = total;
}

void Damage::rects(std::vector<TileRect>& out) const {
  out.clear();
  if (count_ == 0) return;
  std::size_t previous_begin = 0;  // rectangles that end at the row above: [previous_begin, previous_end)
  std::size_t previous_end = 0;
  std::size_t open = 0;
  for (int y = 0; y < grid_.rows; ++y) {
    open = previous_begin;
    const std::size_t row_begin = out.size();
    for (int x = 0; x < grid_.cols;) {
      if (!test(x, y)) {
        ++x;
        continue;
      }
      const int run_begin = x;
      while (x < grid_.cols && test(x, y)) ++x;
      out.push_back({run_begin, y, x - run_begin, 1});
    }
    // Merge runs equal to a rectangle that ends right above.
    std::size_t kept = row_begin;
    for (std::size_t r = row_begin; r < out.size(); ++r) {
      bool merged = false;
      for (std::size_t p = previous_begin; p < previous_end && !merged; ++p) {
        TileRect& above = out[p];
        if (above.x == out[r].x && above.width == out[r].width && above.y + above.height == y) {
          ++above.height;
          merged = true;
        }
      }
      if (!merged) out[kept++] = out[r];
    }
    out.resize(kept);
    (void)open;
    previous_begin = 0;
    previous_end = out.size();
  }
  std::sort(out.begin(), out.end(),
            [](const TileRect& a, const TileRect& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
}

}  // namespace saccade
