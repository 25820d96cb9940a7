#include "pipeline/gaze/novelty/stroke_cue.h"

#include <algorithm>
#include <cstdlib>

namespace saccade {
namespace {

// 0 where there are no fine steps.
float share(int fine, int coarse) { return static_cast<float>(fine) / static_cast<float>(std::max(fine + coarse, 1)); }

}  // namespace

StrokeCue::StrokeCue(TileGrid grid)
    : grid_(grid), measured_(static_cast<std::size_t>(grid.rows)), strokes_(static_cast<std::size_t>(grid.count())) {
  for (auto& steps : steps_) steps.resize(strokes_.size() + static_cast<std::size_t>(grid.cols));
  for (auto& sums : around_) sums.resize(static_cast<std::size_t>(grid.cols) + 2);
}

void StrokeCue::measure(std::size_t y, std::size_t begin, std::size_t end, const BlockSums& codes) {
  const auto cols = static_cast<std::size_t>(grid_.cols), rows = static_cast<std::size_t>(grid_.rows);
  const int* const upper = codes.row(0, 2 * y);
  const int* const lower = codes.row(0, 2 * y + 1);
  const int* const next = y + 1 < rows ? codes.row(0, 2 * y + 2) : lower;  // beyond the frame the last half again
  int* const down = row_of(kDownHalves, y);
  for (std::size_t x = begin; x < end; ++x) {
    const int upper_half = upper[2 * x] + upper[2 * x + 1], lower_half = lower[2 * x] + lower[2 * x + 1];
    down[x] = std::abs(upper_half - lower_half) + std::abs(lower_half - next[2 * x] - next[2 * x + 1]);
  }
  int* const across = row_of(kAcrossHalves, y);
  const auto half = [&](std::size_t col) { return upper[col] + lower[col]; };
  for (std::size_t x = begin; x < std::min(end, cols - 1); ++x) {
    across[x] = std::abs(half(2 * x) - half(2 * x + 1)) + std::abs(half(2 * x + 1) - half(2 * x + 2));
  }
  if (end == cols) across[cols - 1] = std::abs(half(2 * cols - 2) - half(2 * cols - 1));
  measured_[y] = 1;
}

void StrokeCue::rate_row(int y) {
  const auto cols = static_cast<std::size_t>(grid_.cols);
  const std::size_t here = static_cast<std::size_t>(y + 1) * cols, above = here - cols;
  const std::size_t below = y + 1 < grid_.rows ? here + cols : 0;  // none
  for (std::size_t axis = 0; axis < kSteps; ++axis) {
    const int* const steps = steps_[axis].data();
    int* const sums = around_[axis].data() + 1;
    for (std::size_t x = 0; x < cols; ++x) sums[x] = steps[above + x] + steps[here + x] + steps[below + x];
  }
  const int *const across = around_[kAcross].data(), *const across_halves = around_[kAcrossHalves].data();
  const int *const down = around_[kDown].data(), *const down_halves = around_[kDownHalves].data();
  float* const out = strokes_.data() + static_cast<std::size_t>(y) * cols;
  const auto three = [](const int* sums) { return sums[0] + sums[1] + sums[2]; };
  for (std::size_t x = 0; x < cols; ++x) {
    out[x] =
        std::max(share(three(across + x), three(across_halves + x)), share(three(down + x), three(down_halves + x)));
  }
}

void StrokeCue::rate() {
  const auto measured = [&](int y) { return y >= 0 && y < grid_.rows && measured_[static_cast<std::size_t>(y)] != 0; };
  for (int y = 0; y < grid_.rows; ++y) {
    if (measured(y - 1) || measured(y) || measured(y + 1)) rate_row(y);
  }
  std::fill(measured_.begin(), measured_.end(), std::uint8_t{0});
}

}  // namespace saccade
