// Mip levels of one tile. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_mips.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <cstring>

#include "kernels/cpu/ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_mips(CpuOps*) {}  // no vectors: the plain versions stay

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums of 256 texels fit: 16 bits hold 256 * 255, 32 bits 256 * 65535.
template <class T>
using SumType = hwy::MakeWide<T>;
// A row of one tile is 16 to 64 bytes: vectors of 128 bits. Rows of several neighbouring tiles fill wider ones.
template <class T, int kTiles>
using SumTag = hn::CappedTag<SumType<T>, (kTiles > 1 ? 32 : 16) / sizeof(SumType<T>)>;

// Adds neighbouring texels of kChannels channels; `low` holds the first half of the row.
template <int kChannels, class D, class V>
HWY_INLINE V add_neighbours(D d, V low, V high) {
  constexpr std::size_t kBytes = kChannels * sizeof(hn::TFromD<D>);
  using Texel = hwy::UnsignedFromSize<kBytes>;
  const hn::Repartition<Texel, D> dt;
  if constexpr (kBytes < 8) {
    using Pair = hwy::UnsignedFromSize<2 * kBytes>;
    const hn::Repartition<Pair, D> dp;
    const auto fold = [&](V v) HWY_ATTR {  // the sum of a pair in its low half: channels never carry
      return hn::BitCast(dt, hn::Add(v, hn::BitCast(d, hn::ShiftRight<8 * kBytes>(hn::BitCast(dp, v)))));
    };
    return hn::BitCast(d, hn::ConcatEven(dt, fold(high), fold(low)));
  } else {
    const auto a = hn::BitCast(dt, low);
    const auto b = hn::BitCast(dt, high);
    return hn::Add(hn::BitCast(d, hn::ConcatEven(dt, b, a)), hn::BitCast(d, hn::ConcatOdd(dt, b, a)));
  }
}

// Rounded means of 4^level texels, narrowed to the texture's samples.
template <int kLevel, class T, class D, class V>
HWY_INLINE void store_means(D d, V sums, std::uint8_t* out, std::size_t lanes) {
  const hn::Rebind<T, D> narrow;
  const hn::RebindToSigned<D> ds;
  const auto mean = hn::ShiftRight<2 * kLevel>(hn::Add(sums, hn::Set(d, hn::TFromD<D>{1} << (2 * kLevel - 1))));
  const auto values = hn::DemoteTo(narrow, hn::BitCast(ds, mean));  // means of samples: never negative, never too large
  if (lanes == hn::Lanes(d)) {
    hn::StoreU(values, narrow, reinterpret_cast<T*>(out));
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(narrow)];
    hn::Store(values, narrow, buffer);
    std::memcpy(out, buffer, lanes * sizeof(T));
  }
}

// One row of level 1 from two rows of level 0; `lanes` samples come out.
template <class T, int kChannels, int kTiles>
HWY_INLINE void first_row(const T* top, const T* bottom, SumType<T>* sums, std::uint8_t* out, std::size_t lanes) {
  const SumTag<T, kTiles> d;
  const hn::Rebind<T, SumTag<T, kTiles>> narrow;
  const std::size_t n = hn::Lanes(d);
  const auto column = [&](std::size_t x) HWY_ATTR {
    return hn::Add(hn::PromoteTo(d, hn::LoadU(narrow, top + x)), hn::PromoteTo(d, hn::LoadU(narrow, bottom + x)));
  };
  // One channel: neighbours are the low and the high half of a wide lane.
  const hn::Repartition<T, SumTag<T, kTiles>> full;
  const auto pairs = [&](const T* row) HWY_ATTR {
    const auto both = hn::BitCast(d, hn::LoadU(full, row));
    return hn::Add(hn::And(both, hn::Set(d, hwy::LimitsMax<T>())), hn::ShiftRight<8 * sizeof(T)>(both));
  };
  for (std::size_t x = 0; x < lanes; x += n) {
    hn::Vec<SumTag<T, kTiles>> sum;
    if constexpr (kChannels == 1) {
      sum = hn::Add(pairs(top + 2 * x), pairs(bottom + 2 * x));
    } else {
      sum = add_neighbours<kChannels>(d, column(2 * x), column(2 * x + n));
    }
    hn::Store(sum, d, sums + x);
    store_means<1, T>(d, sum, out + x * sizeof(T), n);
  }
}

// One row of the level above from two rows of sums; `lanes` samples come out.
template <int kLevel, class T, int kChannels, int kTiles>
HWY_INLINE void next_row(const SumType<T>* top, const SumType<T>* bottom, SumType<T>* sums, std::uint8_t* out,
                         std::size_t lanes) {
  const SumTag<T, kTiles> d;
  const std::size_t n = hn::Lanes(d);
  if (lanes >= n) {
    for (std::size_t x = 0; x < lanes; x += n) {
      const auto low = hn::Add(hn::Load(d, top + 2 * x), hn::Load(d, bottom + 2 * x));
      const auto high = hn::Add(hn::Load(d, top + 2 * x + n), hn::Load(d, bottom + 2 * x + n));
      const auto sum = add_neighbours<kChannels>(d, low, high);
      hn::Store(sum, d, sums + x);
      store_means<kLevel, T>(d, sum, out + x * sizeof(T), n);
    }
  } else if (2 * lanes == n) {
    const auto both = hn::Add(hn::Load(d, top), hn::Load(d, bottom));
    const auto sum = add_neighbours<kChannels>(d, both, both);
    hn::Store(sum, d, sums);
    store_means<kLevel, T>(d, sum, out, lanes);
  } else {
    for (std::size_t x = 0; x < lanes; ++x) {
      const std::size_t at = x / kChannels * 2 * kChannels + x % kChannels;
      const auto sum = static_cast<SumType<T>>(top[at] + top[at + kChannels] + bottom[at] + bottom[at + kChannels]);
      sums[x] = sum;
      const auto mean = static_cast<T>((std::uint32_t{sum} + (1U << (2 * kLevel - 1))) >> (2 * kLevel));
      std::memcpy(out + x * sizeof(T), &mean, sizeof(T));
    }
  }
}

template <int kLevel, class T, int kChannels, int kSize, int kTiles>
HWY_INLINE void next_level(const TileMips& tile, const SumType<T>* fine, SumType<T>* coarse) {
  constexpr std::size_t kSide = static_cast<std::size_t>(kSize >> kLevel);
  constexpr std::size_t kLanes = kSide * kChannels * kTiles;
  constexpr std::size_t kPitch = static_cast<std::size_t>(kSize / 2 * kChannels * kTiles);  // of both arrays of sums
  const std::size_t slot = kLevel - 1;
  for (std::size_t y = 0; y < kSide; ++y) {
    std::uint8_t* out = tile.out[slot] + static_cast<std::ptrdiff_t>(y) * tile.out_pitch[slot];
    const SumType<T>* top = fine + 2 * y * kPitch;
    next_row<kLevel, T, kChannels, kTiles>(top, top + kPitch, coarse + y * kPitch, out, kLanes);
  }
}

// All levels of kTiles neighbouring tiles.
template <class T, int kChannels, int kSize, int kTiles>
HWY_INLINE void group_mips(const TileMips& tile, std::uint32_t* sums) {
  constexpr std::size_t kHalf = static_cast<std::size_t>(kSize / 2);
  constexpr std::size_t kPitch = kHalf * kChannels * kTiles;
  HWY_ALIGN SumType<T> a[kHalf * kPitch];
  HWY_ALIGN SumType<T> b[kHalf * kPitch];
  for (std::size_t y = 0; y < kHalf; ++y) {
    const std::uint8_t* top = tile.source + static_cast<std::ptrdiff_t>(2 * y) * tile.source_pitch;
    first_row<T, kChannels, kTiles>(reinterpret_cast<const T*>(top),
                                    reinterpret_cast<const T*>(top + tile.source_pitch), a + y * kPitch,
                                    tile.out[0] + static_cast<std::ptrdiff_t>(y) * tile.out_pitch[0], kPitch);
  }
  next_level<2, T, kChannels, kSize, kTiles>(tile, a, b);
  next_level<3, T, kChannels, kSize, kTiles>(tile, b, a);
  if constexpr (kSize == 16) next_level<4, T, kChannels, kSize, kTiles>(tile, a, b);
  const SumType<T>* whole = kSize == 16 ? b : a;
  for (int c = 0; c < kChannels * kTiles; ++c) sums[c] = whole[c];
}

template <class T, int kChannels, int kSize>
void tile_mips(const TileMips& run, std::uint32_t* sums) {
  constexpr int kGroup = 8;
  constexpr int kRowBytes = kSize * kChannels * static_cast<int>(sizeof(T));
  TileMips tile = run;
  const auto advance = [&](int tiles) {
    sums += tiles * kChannels;
    tile.tiles -= tiles;
    tile.source += tiles * kRowBytes;
    for (std::size_t l = 0; l < 4; ++l) tile.out[l] += tiles * kRowBytes >> (l + 1);
  };
  while (tile.tiles >= kGroup) {
    group_mips<T, kChannels, kSize, kGroup>(tile, sums);
    advance(kGroup);
  }
  while (tile.tiles > 0) {
    group_mips<T, kChannels, kSize, 1>(tile, sums);
    advance(1);
  }
}

}  // namespace

void fill_mips(CpuOps* ops) {
  ops->tile_mips = {tile_mips<std::uint8_t, 1, 16>, tile_mips<std::uint8_t, 2, 8>, tile_mips<std::uint8_t, 4, 16>,
                    tile_mips<std::uint16_t, 1, 16>, tile_mips<std::uint16_t, 2, 8>};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade {

HWY_EXPORT(fill_mips);

void use_simd_mips(CpuOps& ops) { HWY_DYNAMIC_DISPATCH(fill_mips)(&ops); }

}  // namespace saccade
#endif
