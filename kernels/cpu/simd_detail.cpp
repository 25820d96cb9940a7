// Detail of tiles: steps between neighbouring texels. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_detail.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_detail(CpuOps*) {}  // no vectors: the plain version stays

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<std::uint8_t, 64>;
using Sums = hn::Repartition<std::uint64_t, Bytes>;  // one lane a tile
using Codes = hn::Vec<Bytes>;
using TileSums = hn::Vec<Sums>;
constexpr std::size_t kMostTiles = 8;  // of one vector

HWY_INLINE Codes step(Codes a, Codes b, Codes noise) {
  return hn::SaturatedSub(hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)), noise);
}

// The steps of a row's texels, less noise; returns the larger ones.
// row: its texels, which those of the row below replace.
HWY_INLINE Codes next_steps(const std::uint8_t* at, std::ptrdiff_t pitch, Codes noise, Codes& row, Codes& across,
                            Codes& down) {
  const Bytes d;
  const Codes below = hn::LoadU(d, at + pitch);
  across = step(row, hn::LoadU(d, at + 1), noise);
  down = step(row, below, noise);
  row = below;
  return hn::Max(across, down);
}

HWY_INLINE void add(TileSums& sums, Codes row) { sums = hn::Add(sums, hn::SumsOf8(row)); }
// The first four bytes of each eight.
HWY_INLINE Codes left_half(Codes row) { return hn::And(row, hn::BitCast(Bytes(), hn::Set(Sums(), 0xFFFFFFFFULL))); }

// A sum a tile.
HWY_INLINE void store(TileSums sums, int* to) {
  const hn::Repartition<std::uint32_t, Sums> d;
  const hn::Half<decltype(d)> half;
  const auto words = hn::BitCast(d, sums);
  hn::StoreU(hn::LowerHalf(half, hn::ConcatEven(d, words, words)), half, reinterpret_cast<std::uint32_t*>(to));
}

// Those of the left half of a tile and of its right half, one after the other.
HWY_INLINE void store_halves(TileSums left, TileSums all, int* to) {
  const hn::Repartition<std::uint32_t, Sums> d;
  const TileSums both = hn::Or(left, hn::ShiftLeft<32>(hn::Sub(all, left)));
  hn::StoreU(hn::BitCast(d, both), d, reinterpret_cast<std::uint32_t*>(to));
}

// One vector of texels wide.
HWY_INLINE void sum_tiles(const DetailRun& run, std::ptrdiff_t left, const DetailSums& out) {
  const Bytes d;
  const Sums sums;
  const Codes noise = hn::Set(d, static_cast<std::uint8_t>(std::min(run.noise, 255)));
  Codes now = hn::LoadU(d, run.now + left), before = hn::LoadU(d, run.before + left);
  Codes seen = hn::LoadU(d, run.seen + left);
  TileSums across = hn::Zero(sums), down = across, unread = across, appeared = across, vanished = across;
  for (std::size_t half = 0; half < 2; ++half) {
    TileSums now_left = hn::Zero(sums), now_all = now_left, seen_left = now_left, seen_all = now_left;
    for (std::ptrdiff_t row = 0; row < 4; ++row) {
      const std::ptrdiff_t at = (4 * static_cast<std::ptrdiff_t>(half) + row) * run.pitch + left;
      // Eight rows of three pictures are more streams than a core prefetches by itself.
      for (const std::uint8_t* picture : {run.now, run.before, run.seen}) hwy::Prefetch(picture + at + run.next);
      add(now_left, left_half(now));
      add(now_all, now);
      add(seen_left, left_half(seen));
      add(seen_all, seen);
      Codes right = now, below = now;  // in the end those of `now`
      const Codes known = next_steps(run.seen + at, run.pitch, noise, seen, right, below);
      const Codes was = next_steps(run.before + at, run.pitch, noise, before, right, below);
      const Codes there = next_steps(run.now + at, run.pitch, noise, now, right, below);
      add(across, right);
      add(down, below);
      add(unread, hn::SaturatedSub(there, known));
      add(appeared, hn::SaturatedSub(there, was));
      add(vanished, hn::SaturatedSub(was, there));
    }
    store_halves(now_left, now_all, out.now[half]);
    store_halves(seen_left, seen_all, out.seen[half]);
  }
  store(across, out.across);
  store(down, out.down);
  store(unread, out.unread);
  store(appeared, out.appeared);
  store(vanished, out.vanished);
}

DetailSums from(const DetailSums& out, int tile) {
  return {out.across + tile,
          out.down + tile,
          out.unread + tile,
          out.appeared + tile,
          out.vanished + tile,
          {out.now[0] + 2 * tile, out.now[1] + 2 * tile},
          {out.seen[0] + 2 * tile, out.seen[1] + 2 * tile}};
}

// The first tiles of a vector.
void sum_last_tiles(const DetailRun& run, int first, const DetailSums& out) {
  int single[5][kMostTiles], pairs[4][2 * kMostTiles];
  sum_tiles(run, std::ptrdiff_t{8} * first,
            {single[0], single[1], single[2], single[3], single[4], {pairs[0], pairs[1]}, {pairs[2], pairs[3]}});
  const int tiles = run.tiles - first;
  int* const to[] = {out.across, out.down, out.unread, out.appeared, out.vanished};
  for (int i = 0; i < 5; ++i) std::copy_n(single[i], tiles, to[i]);
  int* const halves[] = {out.now[0], out.now[1], out.seen[0], out.seen[1]};
  for (int i = 0; i < 4; ++i) std::copy_n(pairs[i], 2 * tiles, halves[i]);
}

void tile_detail(const DetailRun& run, const DetailSums& out) {
  const int tiles = static_cast<int>(hn::Lanes(Sums()));
  int first = 0;
  for (; first + tiles <= run.tiles; first += tiles) sum_tiles(run, std::ptrdiff_t{8} * first, from(out, first));
  if (first < run.tiles) sum_last_tiles(run, first, from(out, first));
}

}  // namespace

void fill_detail(CpuOps* ops) { ops->tile_detail = tile_detail; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade {

HWY_EXPORT(fill_detail);

void use_simd_detail(CpuOps& ops) { HWY_DYNAMIC_DISPATCH(fill_detail)(&ops); }

}  // namespace saccade
#endif
