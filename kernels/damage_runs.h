// Horizontal runs of damaged tiles.
#pragma once

#include "kernels/damage.h"

namespace saccade {

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
