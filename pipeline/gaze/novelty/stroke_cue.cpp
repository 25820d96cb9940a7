#include "pipeline/gaze/novelty/stroke_cue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace saccade {
namespace {

constexpr int kTexels = kTilePx / 2;  // along a tile of level 1
constexpr int kBlock = kTexels / 2;   // half of that

int block_sum(const std::uint8_t* texel, std::size_t pitch) {
  int sum = 0;
  for (int y = 0; y < kBlock; ++y, texel += pitch) {
    for (int x = 0; x < kBlock; ++x) sum += texel[x];
  }
  return sum;
}

float share(int fine, int coarse) {
  return fine > 0 ? static_cast<float>(fine) / static_cast<float>(fine + coarse) : 0.0f;
}

}  // namespace

StrokeCue::StrokeCue(TileGrid grid)
    : grid_(grid),
      across_(static_cast<std::size_t>(grid.count())),
      down_(across_.size()),
      strokes_(across_.size(), 0.0f) {}

void StrokeCue::measure(std::size_t tile, std::span<const std::uint8_t> luma, int noise) {
  const auto cols = static_cast<std::size_t>(grid_.cols);
  const std::size_t pitch = cols * kTexels + 1;
  const std::size_t col = tile % cols, row = tile / cols;
  const std::uint8_t* const origin = luma.data() + row * kTexels * pitch + col * kTexels;
  Steps across, down;
  for (int y = 0; y < kTexels; ++y) {
    const std::uint8_t* const line = origin + static_cast<std::size_t>(y) * pitch;
    for (int x = 0; x < kTexels; ++x) {
      across.fine += std::max(std::abs(line[x] - line[x + 1]) - noise, 0);
      down.fine += std::max(std::abs(line[x] - line[static_cast<std::size_t>(x) + pitch]) - noise, 0);
    }
  }
  // Beyond the frame the last half is repeated.
  std::array<std::array<int, 3>, 3> sums{};
  const int past_x = col + 1 < cols ? 2 : 1, past_y = row + 1 < static_cast<std::size_t>(grid_.rows) ? 2 : 1;
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) {
      const auto at = static_cast<std::size_t>(std::min(y, past_y) * kBlock) * pitch +
                      static_cast<std::size_t>(std::min(x, past_x) * kBlock);
      sums[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = block_sum(origin + at, pitch);
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    across.coarse += std::abs(sums[0][i] + sums[1][i] - sums[0][i + 1] - sums[1][i + 1]);
    down.coarse += std::abs(sums[i][0] + sums[i][1] - sums[i + 1][0] - sums[i + 1][1]);
  }
  across_[tile] = across;
  down_[tile] = down;
}

StrokeCue::Steps StrokeCue::around(const std::vector<Steps>& axis, int x, int y) const {
  Steps sum;
  for (int row = std::max(y - 1, 0); row <= std::min(y + 1, grid_.rows - 1); ++row) {
    for (int col = std::max(x - 1, 0); col <= std::min(x + 1, grid_.cols - 1); ++col) {
      const Steps& one =
          axis[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.cols) + static_cast<std::size_t>(col)];
      sum.fine += one.fine;
      sum.coarse += one.coarse;
    }
  }
  return sum;
}

void StrokeCue::rate() {
  std::size_t tile = 0;
  for (int y = 0; y < grid_.rows; ++y) {
    for (int x = 0; x < grid_.cols; ++x, ++tile) {
      const Steps across = around(across_, x, y), down = around(down_, x, y);
      strokes_[tile] = std::max(share(across.fine, across.coarse), share(down.fine, down.coarse));
    }
  }
}

}  // namespace saccade
