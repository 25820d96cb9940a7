// Detail of tiles: steps between neighbouring texels. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_detail.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "kernels/cpu/simd_ops.h"

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

enum Sum : std::size_t { kAcross, kDown, kUnread, kAppeared, kVanished, kNow, kSeen = kNow + 4, kSums = kSeen + 4 };

// One vector of texels wide.
HWY_INLINE void sum_tiles(const DetailRun& run, std::ptrdiff_t left, std::uint64_t (*out)[kMostTiles]) {
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
    hn::Store(now_left, sums, out[kNow + 2 * half]);
    hn::Store(hn::Sub(now_all, now_left), sums, out[kNow + 2 * half + 1]);
    hn::Store(seen_left, sums, out[kSeen + 2 * half]);
    hn::Store(hn::Sub(seen_all, seen_left), sums, out[kSeen + 2 * half + 1]);
  }
  hn::Store(across, sums, out[kAcross]);
  hn::Store(down, sums, out[kDown]);
  hn::Store(unread, sums, out[kUnread]);
  hn::Store(appeared, sums, out[kAppeared]);
  hn::Store(vanished, sums, out[kVanished]);
}

void tile_detail(const DetailRun& run, TileDetail* out) {
  const int tiles = static_cast<int>(hn::Lanes(Sums()));
  HWY_ALIGN std::uint64_t sums[kSums][kMostTiles];
  for (int first = 0; first < run.tiles; first += tiles) {
    sum_tiles(run, std::ptrdiff_t{8} * first, sums);
    for (int tile = 0; tile < std::min(tiles, run.tiles - first); ++tile) {
      const auto of = [&](std::size_t sum) { return static_cast<std::uint16_t>(sums[sum][tile]); };
      out[first + tile] = {.across = of(kAcross),
                           .down = of(kDown),
                           .unread = of(kUnread),
                           .appeared = of(kAppeared),
                           .vanished = of(kVanished),
                           .now = {of(kNow), of(kNow + 1), of(kNow + 2), of(kNow + 3)},
                           .seen = {of(kSeen), of(kSeen + 1), of(kSeen + 2), of(kSeen + 3)}};
    }
  }
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
