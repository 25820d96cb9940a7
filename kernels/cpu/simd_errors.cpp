// Errors of tiles: powers of the differences of two pictures. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_errors.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "kernels/cpu/ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_errors(CpuOps*) {}  // no vectors: the plain version stays

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Blocks of 16 bytes, one a tile. Only x86 multiplies and adds pairs within a block, whatever the vector's size.
constexpr int kMostBytes = HWY_ARCH_X86 ? 32 : 16;
using Tiles = hn::CappedTag<std::uint8_t, kMostBytes>;
using Tile = hn::CappedTag<std::uint8_t, 16>;

template <class D>
using Words = hn::Repartition<std::int16_t, D>;
template <class D>
using Sums = hn::Repartition<std::int32_t, D>;
template <class D>
using Totals = hn::Repartition<std::uint64_t, D>;

// The largest difference that a way of adding powers is exact for.
enum class Range : std::uint8_t { kTable = 15, kSquare = 181, kAll = 255 };

// Pairs of words multiplied and added to sums.
template <class D>
HWY_INLINE hn::Vec<Sums<D>> multiply_add(D, hn::Vec<Words<D>> a, hn::Vec<Words<D>> b, hn::Vec<Sums<D>> sums) {
  auto rest = hn::Zero(Sums<D>());
  sums = hn::ReorderWidenMulAccumulate(Sums<D>(), a, b, sums, rest);
  return hn::Add(sums, rest);
}

// The lower and upper bytes of powers of 0 to 15.
struct PowerTable {
  PowerTable(int power, int noise) {
    for (int i = 0; i < 16; ++i) {
      const int of_i = i <= noise ? 0 : power == 3 ? i * i * i : i * i;
      lower[i] = static_cast<std::uint8_t>(of_i & 255);
      upper[i] = static_cast<std::uint8_t>(of_i >> 8);
    }
  }
  HWY_ALIGN std::uint8_t lower[16];
  HWY_ALIGN std::uint8_t upper[16];
};

// What a run's rows are added up with. Vectors of every target fit: they are no members of a class.
// kTable: of differences up to 15. totals has the lower bytes' sums, rest the upper bytes: 16 rows of at most 13 fit.
// Else rest has the sums of d^2 as it is (power 2), or of d^2 d. From 182 on d^2 fits no signed word: then it is
// (d^2 - 2^15) d, and 2^15 times the sum of d, totals, is missing. Sums wrap around, and are right again modulo 2^32.
template <int kPower, Range kRange>
inline constexpr bool kBiased = kPower == 3 && kRange == Range::kAll;

template <int kPower, Range kRange, class D>
HWY_INLINE void add_words(D d, hn::Vec<Words<D>> words, hn::Vec<Sums<D>>& rest) {
  auto factor = words;
  if constexpr (kPower == 3) factor = hn::Mul(words, words);
  if constexpr (kBiased<kPower, kRange>) factor = hn::Xor(factor, hn::Set(Words<D>(), std::int16_t{-32768}));
  rest = multiply_add(d, factor, words, rest);
}

// first, second: the table's bytes; else the noise, and nothing.
template <int kPower, Range kRange, class D>
HWY_INLINE void add_powers(D d, hn::Vec<D> difference, hn::Vec<D> first, hn::Vec<D> second, hn::Vec<Totals<D>>& totals,
                           hn::Vec<Sums<D>>& rest) {
  if constexpr (kRange == Range::kTable) {
    totals = hn::Add(totals, hn::SumsOf8(hn::TableLookupBytes(first, difference)));
    if constexpr (kPower == 3) {
      rest = hn::BitCast(Sums<D>(), hn::Add(hn::BitCast(d, rest), hn::TableLookupBytes(second, difference)));
    }
  } else {
    const auto zero = hn::Zero(d);
    difference = hn::IfThenZeroElse(hn::Eq(hn::Max(difference, first), first), difference);
    if constexpr (kBiased<kPower, kRange>) totals = hn::Add(totals, hn::SumsOf8(difference));
    add_words<kPower, kRange>(d, hn::BitCast(Words<D>(), hn::InterleaveLower(d, difference, zero)), rest);
    add_words<kPower, kRange>(d, hn::BitCast(Words<D>(), hn::InterleaveUpper(d, difference, zero)), rest);
  }
}

// most: the largest difference of each column.
template <int kPower, Range kRange, class D>
HWY_INLINE void add_row(D d, const std::uint8_t* now, hn::Vec<D> shown, hn::Vec<D> first, hn::Vec<D> second,
                        hn::Vec<D>& most, hn::Vec<Totals<D>>& totals, hn::Vec<Sums<D>>& rest) {
  const auto there = hn::LoadU(d, now);
  const auto difference = hn::Or(hn::SaturatedSub(there, shown), hn::SaturatedSub(shown, there));
  most = hn::Max(most, difference);
  add_powers<kPower, kRange>(d, difference, first, second, totals, rest);
}

template <Range kRange, class D>
HWY_INLINE void store(D d, hn::Vec<Totals<D>> totals, hn::Vec<Sums<D>> rest, std::uint32_t* errors) {
  HWY_ALIGN std::uint64_t of_totals[kMostBytes / 8];
  HWY_ALIGN std::int32_t of_rest[kMostBytes / 4];
  if constexpr (kRange == Range::kTable) {
    totals = hn::Add(totals, hn::ShiftLeft<8>(hn::SumsOf8(hn::BitCast(d, rest))));
  } else {
    hn::Store(rest, Sums<D>(), of_rest);
  }
  hn::Store(totals, Totals<D>(), of_totals);
  for (std::size_t tile = 0; tile < hn::Lanes(d) / 16; ++tile) {
    const auto total = static_cast<std::uint32_t>(of_totals[2 * tile] + of_totals[2 * tile + 1]);
    if constexpr (kRange == Range::kTable) {
      errors[tile] = total;
    } else {
      errors[tile] = total << 15;
      for (std::size_t i = 4 * tile; i < 4 * tile + 4; ++i) errors[tile] += static_cast<std::uint32_t>(of_rest[i]);
    }
  }
}

// The tiles of one vector, from `tile` on. pattern: of each byte, the texel that shows it. Returns the largest
// difference of each column.
template <int kPower, int kLevel, Range kRange, class D>
HWY_INLINE hn::Vec<D> sum_rows(D d, const ErrorRun& run, int tile, hn::Vec<D> pattern, hn::Vec<D> first,
                               hn::Vec<D> second, std::uint32_t* errors) {
  constexpr int kRepeat = 1 << kLevel, kUnroll = std::min(kRepeat, 4);
  const std::uint8_t* now = run.now + 16 * tile;
  const std::uint8_t* texels = run.shown + (16 * tile >> kLevel);
  auto most = hn::Zero(d);
  auto totals = hn::Zero(Totals<D>());
  auto rest = hn::Zero(Sums<D>());
  for (int left = run.rows; left > 0; left -= kRepeat, texels += run.shown_pitch) {
    const auto shown = kLevel == 0 ? hn::LoadU(d, texels) : hn::TableLookupBytes(hn::LoadDup128(d, texels), pattern);
    if (left < kRepeat) {
      for (int y = 0; y < left; ++y, now += run.pitch) {
        add_row<kPower, kRange>(d, now, shown, first, second, most, totals, rest);
      }
      break;
    }
    for (int y = 0; y < kRepeat; y += kUnroll) {
      for (int row = 0; row < kUnroll; ++row, now += run.pitch) {
        add_row<kPower, kRange>(d, now, shown, first, second, most, totals, rest);
      }
    }
  }
  store<kRange>(d, totals, rest, errors);
  return most;
}

template <class D>
HWY_INLINE bool fits(D d, hn::Vec<D> differences, Range range) {
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(range));
  return hn::AllTrue(d, hn::Eq(hn::Max(differences, limit), limit));
}

// `guess` is the range of the tiles before, and becomes that of these: neighbours are alike.
template <int kPower, int kLevel, class D>
HWY_INLINE void sum_tiles(D d, const ErrorRun& run, int tile, hn::Vec<D> pattern, const PowerTable& table, Range& guess,
                          std::uint32_t* errors) {
  const auto noise = hn::Set(d, static_cast<std::uint8_t>(std::clamp(run.noise, 0, 255)));
  const auto lower = hn::LoadDup128(d, table.lower), upper = hn::LoadDup128(d, table.upper), none = hn::Zero(d);
  auto most = none;
  Range tried = guess;
  do {
    if (tried == Range::kTable) {
      most = sum_rows<kPower, kLevel, Range::kTable>(d, run, tile, pattern, lower, upper, errors);
    } else if (kPower == 3 && tried == Range::kSquare) {
      most = sum_rows<kPower, kLevel, Range::kSquare>(d, run, tile, pattern, noise, none, errors);
    } else {
      most = sum_rows<kPower, kLevel, Range::kAll>(d, run, tile, pattern, noise, none, errors);
    }
    guess = fits(d, most, Range::kTable)                   ? Range::kTable
            : kPower == 3 && fits(d, most, Range::kSquare) ? Range::kSquare
                                                           : Range::kAll;
  } while (std::exchange(tried, guess) < guess);
}

template <int kPower, int kLevel>
void sum_run(const ErrorRun& run, std::uint32_t* errors) {
  const Tiles tiles;
  const Tile tile;
  HWY_ALIGN std::uint8_t pattern[kMostBytes];
  for (int i = 0; i < kMostBytes; ++i) pattern[i] = static_cast<std::uint8_t>(i >> kLevel);
  const int step = static_cast<int>(hn::Lanes(tiles) / 16), whole = run.last_width < 16 ? run.tiles - 1 : run.tiles;
  int at = 0;
  const PowerTable table(kPower, run.noise);
  Range guess = Range::kTable;
  const auto of_many = hn::Load(tiles, pattern);
  for (; at + step <= whole; at += step) sum_tiles<kPower, kLevel>(tiles, run, at, of_many, table, guess, errors + at);
  const auto of_one = hn::Load(tile, pattern);
  for (; at < whole; ++at) sum_tiles<kPower, kLevel>(tile, run, at, of_one, table, guess, errors + at);
  if (at == run.tiles) return;
  ErrorRun last = run;
  last.tiles = 1;
  last.now += 16 * at;
  last.shown += 16 * at >> kLevel;
  plain_ops().tile_errors(last, errors + at);
}

void tile_errors(const ErrorRun& run, std::uint32_t* errors) {
  static constexpr void (*kRuns[2][5])(const ErrorRun&, std::uint32_t*) = {
      {sum_run<2, 0>, sum_run<2, 1>, sum_run<2, 2>, sum_run<2, 3>, sum_run<2, 4>},
      {sum_run<3, 0>, sum_run<3, 1>, sum_run<3, 2>, sum_run<3, 3>, sum_run<3, 4>}};
  kRuns[run.power - 2][run.level](run, errors);
}

}  // namespace

void fill_errors(CpuOps* ops) { ops->tile_errors = tile_errors; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade {

HWY_EXPORT(fill_errors);

void use_simd_errors(CpuOps& ops) { HWY_DYNAMIC_DISPATCH(fill_errors)(&ops); }

}  // namespace saccade
#endif
