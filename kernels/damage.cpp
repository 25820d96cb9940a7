#include "kernels/damage.h"

#include <algorithm>
#include <stdexcept>

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
  for_each_run(*this, [&](int y, int begin, int end) { out.push_back({begin, y, end - begin, 1}); });
  // From the bottom up, a run takes over the finished rectangle of the row below that has its columns; that one is left
  // with height 0. Each row meets only the next, both sorted by x.
  std::size_t below = out.size();  // rectangles of the row below: [below, below_end)
  std::size_t below_end = out.size();
  for (std::size_t row_end = out.size(); row_end > 0;) {
    std::size_t row = row_end;
    while (row > 0 && out[row - 1].y == out[row_end - 1].y) --row;
    if (below < below_end && out[below].y == out[row].y + 1) {
      std::size_t b = below;
      for (std::size_t r = row; r < row_end; ++r) {
        while (b < below_end && out[b].x < out[r].x) ++b;
        if (b < below_end && out[b].x == out[r].x && out[b].width == out[r].width) {
          out[r].height += out[b].height;
          out[b].height = 0;
        }
      }
    }
    below = row;
    below_end = row_end;
    row_end = row;
  }
  std::erase_if(out, [](const TileRect& rect) { return rect.height == 0; });
}

void check_damage(const Damage& damage, const PyramidLayout& layout) {
  if (damage.grid() != layout.tiles) throw std::invalid_argument("the damage covers another texture's tiles");
}

}  // namespace saccade
