// Errors of tiles: powers of the differences of two pictures. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_errors.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

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
using Tiles = hn::CappedTag<std::uint8_t, HWY_ARCH_X86 ? 32 : 16>;
using Tile = hn::CappedTag<std::uint8_t, 16>;

template <class D>
using Words = hn::Repartition<std::int16_t, D>;
template <class D>
using Sums = hn::Repartition<std::int32_t, D>;
template <class D>
using Totals = hn::Repartition<std::uint64_t, D>;

// Pairs of words multiplied and added to sums.
template <class D>
HWY_INLINE hn::Vec<Sums<D>> multiply_add(D, hn::Vec<Words<D>> a, hn::Vec<Words<D>> b, hn::Vec<Sums<D>> sums) {
  auto rest = hn::Zero(Sums<D>());
  sums = hn::ReorderWidenMulAccumulate(Sums<D>(), a, b, sums, rest);
  return hn::Add(sums, rest);
}

// d^2 of words, as it is (power 2), or (d^2 - 2^15) d: then d^2 fits a signed word, and 2^15 times the sum of d is
// missing. Sums wrap around, and are right again modulo 2^32.
template <int kPower, class D>
HWY_INLINE hn::Vec<Sums<D>> add_powers(D d, hn::Vec<Words<D>> words, hn::Vec<Sums<D>> sums) {
  if constexpr (kPower == 2) return multiply_add(d, words, words, sums);
  const auto bias = hn::Set(Words<D>(), std::int16_t{-32768});
  return multiply_add(d, hn::Xor(hn::Mul(words, words), bias), words, sums);
}

// The tiles of one vector, from `tile` on. pattern: of each byte, the texel that shows it.
template <int kPower, class D>
HWY_INLINE void sum_tiles(D d, const ErrorRun& run, int tile, hn::Vec<D> pattern, std::uint32_t* errors) {
  const Words<D> words;
  const std::uint8_t* now = run.now + 16 * tile;
  const std::uint8_t* const shown_tile = run.shown + (16 * tile >> run.level);
  const auto noise = hn::Set(d, static_cast<std::uint8_t>(std::clamp(run.noise, 0, 255)));
  const auto zero = hn::Zero(d);
  auto powers = hn::Zero(Sums<D>());
  auto differences = hn::Zero(Totals<D>());
  auto shown = zero;
  for (int y = 0; y < run.rows; ++y, now += run.pitch) {
    const std::uint8_t* const texels = shown_tile + (y >> run.level) * run.shown_pitch;
    if (run.level == 0) {
      shown = hn::LoadU(d, texels);
    } else if ((y & ((1 << run.level) - 1)) == 0) {
      shown = hn::TableLookupBytes(hn::LoadDup128(d, texels), pattern);
    }
    const auto there = hn::LoadU(d, now);
    auto difference = hn::Or(hn::SaturatedSub(there, shown), hn::SaturatedSub(shown, there));
    difference = hn::IfThenZeroElse(hn::Eq(hn::SaturatedSub(difference, noise), zero), difference);
    if constexpr (kPower == 3) differences = hn::Add(differences, hn::SumsOf8(difference));
    powers = add_powers<kPower>(d, hn::BitCast(words, hn::InterleaveLower(d, difference, zero)), powers);
    powers = add_powers<kPower>(d, hn::BitCast(words, hn::InterleaveUpper(d, difference, zero)), powers);
  }
  HWY_ALIGN std::int32_t of_powers[8];
  HWY_ALIGN std::uint64_t of_differences[4];
  hn::Store(powers, Sums<D>(), of_powers);
  hn::Store(differences, Totals<D>(), of_differences);
  for (std::size_t block = 0; block < hn::Lanes(d) / 16; ++block) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += static_cast<std::uint32_t>(of_powers[4 * block + i]);
    const std::uint64_t linear = of_differences[2 * block] + of_differences[2 * block + 1];
    errors[block] = sum + (static_cast<std::uint32_t>(linear) << 15);
  }
}

template <int kPower>
void sum_run(const ErrorRun& run, std::uint32_t* errors) {
  const Tiles tiles;
  const Tile tile;
  HWY_ALIGN std::uint8_t pattern[32];
  for (int i = 0; i < 32; ++i) pattern[i] = static_cast<std::uint8_t>(i >> run.level);
  const int step = static_cast<int>(hn::Lanes(tiles) / 16), whole = run.last_width < 16 ? run.tiles - 1 : run.tiles;
  int at = 0;
  const auto of_many = hn::Load(tiles, pattern);
  for (; at + step <= whole; at += step) sum_tiles<kPower>(tiles, run, at, of_many, errors + at);
  const auto of_one = hn::Load(tile, pattern);
  for (; at < whole; ++at) sum_tiles<kPower>(tile, run, at, of_one, errors + at);
  if (at == run.tiles) return;
  ErrorRun last = run;
  last.tiles = 1;
  last.now += 16 * at;
  last.shown += 16 * at >> run.level;
  plain_ops().tile_errors(last, errors + at);
}

void tile_errors(const ErrorRun& run, std::uint32_t* errors) {
  return run.power == 3 ? sum_run<3>(run, errors) : sum_run<2>(run, errors);
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
