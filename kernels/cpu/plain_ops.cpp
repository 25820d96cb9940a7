#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/shared/held.h"

namespace saccade {
namespace {

std::uint16_t load16(const std::uint8_t* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, 2);
  return value;
}

void store16(std::uint8_t* at, std::uint32_t value) {
  const auto narrow = static_cast<std::uint16_t>(value);
  std::memcpy(at, &narrow, 2);
}

void interleave8(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    out[2 * i] = cb[i];
    out[2 * i + 1] = cr[i];
  }
}

void interleave16(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n, int shift) {
  for (std::size_t i = 0; i < n; ++i) {
    store16(out + 4 * i, std::uint32_t{load16(cb + 2 * i)} << shift);
    store16(out + 4 * i + 2, std::uint32_t{load16(cr + 2 * i)} << shift);
  }
}

void shift16(const std::uint8_t* in, std::uint8_t* out, std::size_t n, int shift) {
  for (std::size_t i = 0; i < n; ++i) store16(out + 2 * i, std::uint32_t{load16(in + 2 * i)} << shift);
}

void compare8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
              std::size_t width, int rows, int floor, std::uint8_t* unequal, std::uint32_t* energy) {
  for (std::size_t column = 0; 16 * column < width; ++column) {
    bool differs = false;
    int sum = 0;
    for (int y = 0; y < rows; ++y) {
      for (std::size_t x = 16 * column; x < std::min(16 * column + 16, width); ++x) {
        const int difference =
            std::abs(a[y * a_pitch + static_cast<std::ptrdiff_t>(x)] - b[y * b_pitch + static_cast<std::ptrdiff_t>(x)]);
        differs = differs || difference != 0;
        sum += std::max(difference - floor, 0);
      }
    }
    unequal[column] = differs ? 1 : 0;
    energy[column] = static_cast<std::uint32_t>(sum);
  }
}

void mark_unequal(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) marks[i] = static_cast<std::uint8_t>(marks[i] | (a[i] ^ b[i]));
}

void count_over8(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold) {
  for (std::size_t i = 0; i < n; ++i) {
    marks[i] = static_cast<std::uint8_t>(marks[i] + (std::abs(a[i] - b[i]) > threshold ? 1 : 0));
  }
}

void count_over16(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool over = std::abs(load16(a + 2 * i) - load16(b + 2 * i)) > threshold;
    store16(marks + 2 * i, load16(marks + 2 * i) + (over ? 1U : 0U));
  }
}

void sum_marks(const std::uint8_t* marks, std::size_t tiles, std::size_t tile_bytes, std::uint32_t* sums) {
  for (std::size_t t = 0; t < tiles; ++t) {
    for (std::size_t i = 0; i < tile_bytes; ++i) sums[t] += marks[t * tile_bytes + i];
  }
}

std::uint32_t energy8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                      int width, int height, int floor) {
  int sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) sum += std::max(std::abs(a[y * a_pitch + x] - b[y * b_pitch + x]) - floor, 0);
  }
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t energy16(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                       int width, int height, int floor) {
  int sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      sum += std::max(std::abs(load16(a + y * a_pitch + 2 * x) - load16(b + y * b_pitch + 2 * x)) - floor, 0);
    }
  }
  return static_cast<std::uint32_t>(sum);
}

template <int kBytes, int kChannels>
std::uint32_t channel(const TileMips& tile, int x, int y, int c) {
  const std::uint8_t* at = tile.source + y * tile.source_pitch + (x * kChannels + c) * kBytes;
  return kBytes == 1 ? *at : load16(at);
}

// Sum of the 2^level x 2^level texels that texel (x, y) of `level` covers.
template <int kBytes, int kChannels>
std::uint32_t footprint_sum(const TileMips& tile, int level, int x, int y, int c) {
  const int side = 1 << level;
  std::uint32_t sum = 0;
  for (int v = 0; v < side; ++v) {
    for (int u = 0; u < side; ++u) sum += channel<kBytes, kChannels>(tile, x * side + u, y * side + v, c);
  }
  return sum;
}

template <int kBytes, int kChannels, int kTileLevels>
void one_tile_mips(const TileMips& tile, std::uint32_t* sums) {
  for (int level = 1; level <= kTileLevels; ++level) {
    const int side = 1 << (kTileLevels - level);
    const auto slot = static_cast<std::size_t>(level - 1);
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (int c = 0; c < kChannels; ++c) {
          const std::uint32_t sum = footprint_sum<kBytes, kChannels>(tile, level, x, y, c);
          const std::uint32_t mean = (sum + (1U << (2 * level - 1))) >> (2 * level);
          std::uint8_t* out = tile.out[slot] + y * tile.out_pitch[slot] + (x * kChannels + c) * kBytes;
          if (kBytes == 1) {
            *out = static_cast<std::uint8_t>(mean);
          } else {
            store16(out, mean);
          }
        }
      }
    }
  }
  for (int c = 0; c < kChannels; ++c) sums[c] = footprint_sum<kBytes, kChannels>(tile, kTileLevels, 0, 0, c);
}

template <int kBytes, int kChannels, int kTileLevels>
void tile_mips(const TileMips& run, std::uint32_t* sums) {
  TileMips tile = run;
  for (int t = 0; t < run.tiles; ++t) {
    one_tile_mips<kBytes, kChannels, kTileLevels>(tile, sums + t * kChannels);
    tile.source += kBytes * kChannels << kTileLevels;
    for (int level = 1; level <= kTileLevels; ++level) {
      tile.out[static_cast<std::size_t>(level - 1)] += kBytes * kChannels << (kTileLevels - level);
    }
  }
}

int step(const std::uint8_t* from, std::ptrdiff_t to, int noise) {
  return std::max(std::abs(from[0] - from[to]) - noise, 0);
}

void one_tile_detail(const DetailRun& run, int tile, const DetailSums& out) {
  const auto larger = [&](const std::uint8_t* texel) {
    return std::max(step(texel, 1, run.noise), step(texel, run.pitch, run.noise));
  };
  int across = 0, down = 0, unread = 0, appeared = 0, vanished = 0, now[4]{}, seen[4]{};
  for (std::ptrdiff_t y = 0; y < 8; ++y) {
    for (std::ptrdiff_t x = 0; x < 8; ++x) {
      const std::ptrdiff_t at = y * run.pitch + std::ptrdiff_t{8} * tile + x, quarter = y / 4 * 2 + x / 4;
      const int step_now = larger(run.now + at), step_before = larger(run.before + at);
      across += step(run.now + at, 1, run.noise);
      down += step(run.now + at, run.pitch, run.noise);
      unread += std::max(step_now - larger(run.seen + at), 0);
      appeared += std::max(step_now - step_before, 0);
      vanished += std::max(step_before - step_now, 0);
      now[quarter] += run.now[at];
      seen[quarter] += run.seen[at];
    }
  }
  out.across[tile] = across;
  out.down[tile] = down;
  out.unread[tile] = unread;
  out.appeared[tile] = appeared;
  out.vanished[tile] = vanished;
  for (std::size_t i = 0; i < 4; ++i) {
    out.now[i / 2][2 * static_cast<std::size_t>(tile) + i % 2] = now[i];
    out.seen[i / 2][2 * static_cast<std::size_t>(tile) + i % 2] = seen[i];
  }
}

void tile_detail(const DetailRun& run, const DetailSums& out) {
  for (int tile = 0; tile < run.tiles; ++tile) one_tile_detail(run, tile, out);
}

void tile_errors(const ErrorRun& run, std::uint32_t* errors) {
  for (int tile = 0; tile < run.tiles; ++tile) {
    const int left = 16 * tile, width = tile + 1 == run.tiles ? run.last_width : 16;
    std::uint32_t sum = 0;
    for (int y = 0; y < run.rows; ++y) {
      for (int x = left; x < left + width; ++x) {
        const int shown = run.shown[(y >> run.level) * run.shown_pitch + (x >> run.level)];
        sum += shared::pixel_error(run.now[y * run.pitch + x], shown, run.power, run.noise);
      }
    }
    errors[tile] = sum;
  }
}

}  // namespace

const CpuOps& plain_ops() {
  static constexpr CpuOps kOps{
      .interleave8 = interleave8,
      .interleave16 = interleave16,
      .shift16 = shift16,
      .compare8 = compare8,
      .mark_unequal = mark_unequal,
      .count_over8 = count_over8,
      .count_over16 = count_over16,
      .sum_marks = sum_marks,
      .energy8 = energy8,
      .energy16 = energy16,
      .tile_mips = {tile_mips<1, 1, 4>, tile_mips<1, 2, 3>, tile_mips<1, 4, 4>, tile_mips<2, 1, 4>, tile_mips<2, 2, 3>},
      .tile_detail = tile_detail,
      .tile_errors = tile_errors,
      .sample_patch = plain_sample_patch,
  };
  return kOps;
}

}  // namespace saccade
