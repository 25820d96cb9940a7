// Tiles of frames and textures. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tensor/cpu/simd_tiles.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <cstring>

#include "kernels/tensor/cpu/tile_ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade::tensor::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_tiles(AllTileOps*) {}  // no vectors: the plain versions stay

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <int kRows>
HWY_INLINE void mark_rows(const std::uint8_t* const* is, const std::uint8_t* const* was, std::size_t bytes,
                          std::uint8_t* marks) {
  const hn::ScalableTag<std::uint8_t> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= bytes; i += hn::Lanes(d)) {
    auto any = hn::LoadU(d, marks + i);
    for (int row = 0; row < kRows; ++row) {
      any = hn::Or(any, hn::Xor(hn::LoadU(d, is[row] + i), hn::LoadU(d, was[row] + i)));
    }
    hn::StoreU(any, d, marks + i);
  }
  for (; i < bytes; ++i) {
    for (int row = 0; row < kRows; ++row) marks[i] = static_cast<std::uint8_t>(marks[i] | (is[row][i] ^ was[row][i]));
  }
}

template <class T>
void mark(const T* const* is, const T* const* was, int rows, std::size_t n, std::uint8_t* marks) {
  const std::uint8_t* a[4] = {};
  const std::uint8_t* b[4] = {};
  for (int row = 0; row < rows; ++row) {
    a[row] = reinterpret_cast<const std::uint8_t*>(is[row]);
    b[row] = reinterpret_cast<const std::uint8_t*>(was[row]);
  }
  if (rows == 1) return mark_rows<1>(a, b, n * sizeof(T), marks);
  if (rows == 2) return mark_rows<2>(a, b, n * sizeof(T), marks);
  if (rows == 3) return mark_rows<3>(a, b, n * sizeof(T), marks);
  mark_rows<4>(a, b, n * sizeof(T), marks);
}

// Elements are moved and compared as integers of their size.
template <class T>
using Raw = hwy::UnsignedFromSize<sizeof(T)>;

template <int kStride, class D, class V>
HWY_INLINE void load_apart(D d, const hn::TFromD<D>* in, V* v) {
  if constexpr (kStride == 2) hn::LoadInterleaved2(d, in, v[0], v[1]);
  if constexpr (kStride == 3) hn::LoadInterleaved3(d, in, v[0], v[1], v[2]);
  if constexpr (kStride == 4) hn::LoadInterleaved4(d, in, v[0], v[1], v[2], v[3]);
}

// take(vector of each channel, the first one's pixel) for as many whole vectors as there are; returns how many pixels
// they held. Where a pixel has elements that nobody asks for, the last one may end with the memory: it is left out.
template <int kStride, class D, class Take>
HWY_INLINE std::size_t for_vectors(D d, const hn::TFromD<D>* in, int channels, std::size_t n, const Take& take) {
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t most = channels < kStride && n > 0 ? n - 1 : n;
  std::size_t i = 0;
  for (; i + lanes <= most; i += lanes) {
    hn::Vec<D> v[4];
    load_apart<kStride>(d, in + kStride * i, v);
    take(v, i);
  }
  return i;
}

template <int kStride, class T>
void split_by(const T* in, int channels, std::size_t n, T* const* out) {
  const hn::ScalableTag<Raw<T>> wide;
  const hn::CappedTag<Raw<T>, 16 / sizeof(T)> narrow;
  const auto* from = reinterpret_cast<const Raw<T>*>(in);
  std::size_t done = for_vectors<kStride>(wide, from, channels, n, [&](auto* v, std::size_t i) HWY_ATTR {
    for (int c = 0; c < channels; ++c) hn::StoreU(v[c], wide, reinterpret_cast<Raw<T>*>(out[c]) + i);
  });
  const std::size_t first = done;
  done +=
      for_vectors<kStride>(narrow, from + first * kStride, channels, n - first, [&](auto* v, std::size_t i) HWY_ATTR {
        for (int c = 0; c < channels; ++c) hn::StoreU(v[c], narrow, reinterpret_cast<Raw<T>*>(out[c]) + first + i);
      });
  T* rest[4] = {};
  for (int c = 0; c < channels; ++c) rest[c] = out[c] + done;
  plain::split(in + done * kStride, kStride, channels, n - done, rest);
}

template <int kStride, class T>
void mark_by(const T* is, int channels, const T* const* was, std::size_t n, std::uint8_t* marks) {
  const hn::ScalableTag<Raw<T>> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const auto* from = reinterpret_cast<const Raw<T>*>(is);
  const std::size_t done = for_vectors<kStride>(d, from, channels, n, [&](auto* v, std::size_t i) HWY_ATTR {
    auto any = hn::LoadU(bytes, marks + i * sizeof(T));
    for (int c = 0; c < channels; ++c) {
      const auto before = hn::LoadU(d, reinterpret_cast<const Raw<T>*>(was[c]) + i);
      any = hn::Or(any, hn::BitCast(bytes, hn::Xor(v[c], before)));
    }
    hn::StoreU(any, bytes, marks + i * sizeof(T));
  });
  const T* rest[4] = {};
  for (int c = 0; c < channels; ++c) rest[c] = was[c] + done;
  plain::mark_apart(is + done * kStride, kStride, channels, rest, n - done, marks + done * sizeof(T));
}

template <class T>
void split(const T* in, int stride, int channels, std::size_t n, T* const* out) {
  if (stride == 2) return split_by<2>(in, channels, n, out);
  if (stride == 3) return split_by<3>(in, channels, n, out);
  split_by<4>(in, channels, n, out);
}

template <class T>
void mark_apart(const T* is, int stride, int channels, const T* const* was, std::size_t n, std::uint8_t* marks) {
  if (stride == 2) return mark_by<2>(is, channels, was, n, marks);
  if (stride == 3) return mark_by<3>(is, channels, was, n, marks);
  mark_by<4>(is, channels, was, n, marks);
}

// Sizes are kept so that four rows, one of each row of quads, follow each other: 64 numbers are then the pixels 0 to 3
// of quad 0, of quad 1, and so on.
constexpr int size_row(int y) { return y % 4 * 4 + y / 4; }

// quads += sizes, pixel by pixel as the definition does.
template <class V>
HWY_INLINE void add_quads(const V* sizes, V* quads) {
  const hn::CappedTag<V, 16> d;
  for (std::size_t q = 0; q < 16; q += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, quads + q);
    for (std::size_t row = 0; row < 4; ++row) {
      hn::Vec<decltype(d)> v[4];
      load_apart<4>(d, sizes + 4 * (16 * row + q), v);
      sum = hn::Add(hn::Add(hn::Add(hn::Add(sum, v[0]), v[1]), v[2]), v[3]);
    }
    hn::StoreU(sum, d, quads + q);
  }
}

template <class V, class T>
void compare_numbers(const TileChannel<V>& is, const TileChannel<V>& was, int rows, V threshold, TileSums<T>* sums) {
  const hn::CappedTag<V, kTilePx> d;
  const hn::RebindToUnsigned<decltype(d)> raw;
  const auto zero = hn::Zero(d);
  const auto limit = hn::Set(d, threshold);
  HWY_ALIGN V sizes[kTilePx * kTilePx] = {};
  for (int y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < kTilePx; x += hn::Lanes(d)) {
      const auto a = hn::LoadU(d, is.pixels + y * is.pitch + x);
      const auto b = hn::LoadU(d, was.pixels + y * was.pitch + x);
      const auto same = hn::RebindMask(d, hn::Eq(hn::BitCast(raw, a), hn::BitCast(raw, b)));
      const auto difference = hn::Sub(a, b);
      const auto size = hn::IfThenElse(hn::Lt(difference, zero), hn::Neg(difference), difference);
      hn::Store(hn::IfThenZeroElse(same, size), d, sizes + size_row(y) * kTilePx + x);
      sums->over += static_cast<int>(hn::CountTrue(d, hn::Not(hn::Or(same, hn::Le(size, limit)))));
    }
  }
  add_quads(sizes, sums->quads);
}

template <class T>
void compare(const TileChannel<T>& is, const TileChannel<T>& was, int rows, Value<T> threshold, TileSums<T>* sums) {
  using V = Value<T>;
  if constexpr (std::is_same_v<T, V>) {
    compare_numbers<V>(is, was, rows, threshold, sums);
  } else {
    V now[kTilePx * kTilePx];
    V before[kTilePx * kTilePx];
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < kTilePx; ++x) now[y * kTilePx + x] = load(is.pixels[y * is.pitch + x]);
      for (int x = 0; x < kTilePx; ++x) before[y * kTilePx + x] = load(was.pixels[y * was.pitch + x]);
    }
    // no two elements become the same number
    compare_numbers<V>({now, kTilePx}, {before, kTilePx}, rows, threshold, sums);
  }
}

// Bytes: whole numbers as long as the sums stay below 2^24.
void compare_bytes(const TileChannel<std::uint8_t>& is, const TileChannel<std::uint8_t>& was, int rows, float threshold,
                   TileSums<std::uint8_t>* sums) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint16_t, decltype(d)> pairs;
  const hn::Repartition<std::uint32_t, decltype(d)> quads;
  const hn::Repartition<float, decltype(d)> numbers;
  const hn::RebindToSigned<decltype(quads)> whole;
  const auto low = hn::Set(pairs, std::uint16_t{0xff});
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(within(threshold, 255.0f)));
  for (int y0 = 0; y0 < rows; y0 += 4) {
    auto sum = hn::Zero(pairs);
    for (int y = y0; y < rows && y < y0 + 4; ++y) {
      const auto a = hn::LoadU(d, is.pixels + y * is.pitch);
      const auto b = hn::LoadU(d, was.pixels + y * was.pitch);
      const auto size = hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
      const auto wide = hn::BitCast(pairs, size);
      sum = hn::Add(sum, hn::Add(hn::And(wide, low), hn::ShiftRight<8>(wide)));
      sums->over += static_cast<int>(hn::CountTrue(d, hn::Gt(size, limit)));
    }
    const auto both = hn::BitCast(quads, sum);
    const auto total = hn::Add(hn::And(both, hn::Set(quads, 0xffffU)), hn::ShiftRight<16>(both));
    float* out = sums->quads + y0;
    hn::StoreU(hn::Add(hn::LoadU(numbers, out), hn::ConvertTo(numbers, hn::BitCast(whole, total))), numbers, out);
  }
}

template <class T>
void fill(TileOps<T>* ops) {
  ops->mark = mark<T>;
  ops->mark_apart = mark_apart<T>;
  ops->split = split<T>;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    ops->compare = compare_bytes;
  } else {
    ops->compare = compare<T>;
  }
}

}  // namespace

void fill_tiles(AllTileOps* all) {
  std::apply([](auto&... ops) { (fill(&ops), ...); }, *all);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade::tensor::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::tensor::cpu {

HWY_EXPORT(fill_tiles);

AllTileOps simd_tile_ops() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());  // function pointers are taken below, before any call
  AllTileOps all = {plain_tile_ops<std::uint8_t>(), plain_tile_ops<std::uint16_t>(), plain_tile_ops<Half>(),
                    plain_tile_ops<Bfloat>(),       plain_tile_ops<float>(),         plain_tile_ops<double>()};
  HWY_DYNAMIC_DISPATCH(fill_tiles)(&all);
  return all;
}

}  // namespace saccade::tensor::cpu
#endif
