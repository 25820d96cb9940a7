// Packing, differences and energy of rows. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_rows(CpuOps*) {}  // no vectors: the plain versions stay

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<std::uint8_t>;
using Words = hn::ScalableTag<std::uint16_t>;

const std::uint16_t* words(const std::uint8_t* at) { return reinterpret_cast<const std::uint16_t*>(at); }
std::uint16_t* words(std::uint8_t* at) { return reinterpret_cast<std::uint16_t*>(at); }

std::uint16_t load16(const std::uint8_t* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, 2);
  return value;
}

void store16(std::uint8_t* at, int value) {
  const auto narrow = static_cast<std::uint16_t>(value);
  std::memcpy(at, &narrow, 2);
}

void interleave8(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n) {
  const Bytes d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreInterleaved2(hn::LoadU(d, cb + i), hn::LoadU(d, cr + i), d, out + 2 * i);
  }
  for (; i < n; ++i) {
    out[2 * i] = cb[i];
    out[2 * i + 1] = cr[i];
  }
}

void interleave16(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* out, std::size_t n, int shift) {
  const Words d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto a = hn::ShiftLeftSame(hn::LoadU(d, words(cb + 2 * i)), shift);
    const auto b = hn::ShiftLeftSame(hn::LoadU(d, words(cr + 2 * i)), shift);
    hn::StoreInterleaved2(a, b, d, words(out + 4 * i));
  }
  for (; i < n; ++i) {
    store16(out + 4 * i, load16(cb + 2 * i) << shift);
    store16(out + 4 * i + 2, load16(cr + 2 * i) << shift);
  }
}

void shift16(const std::uint8_t* in, std::uint8_t* out, std::size_t n, int shift) {
  const Words d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::ShiftLeftSame(hn::LoadU(d, words(in + 2 * i)), shift), d, words(out + 2 * i));
  }
  for (; i < n; ++i) store16(out + 2 * i, load16(in + 2 * i) << shift);
}

void mark_unequal(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n) {
  const Bytes d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto difference = hn::Xor(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(hn::Or(hn::LoadU(d, marks + i), difference), d, marks + i);
  }
  for (; i < n; ++i) marks[i] = static_cast<std::uint8_t>(marks[i] | (a[i] ^ b[i]));
}

// |a - b| - floor, not below 0, for unsigned lanes.
template <class V>
HWY_INLINE V excess(V a, V b, V floor) {
  return hn::SaturatedSub(hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)), floor);
}

// Row by row, as memory likes it, a block of columns at a time so that what is gathered stays in the first-level cache.
void compare8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
              std::size_t width, int rows, int floor, std::uint8_t* unequal, std::uint32_t* energy) {
  constexpr std::size_t kBlock = 2048;
  const hn::CappedTag<std::uint8_t, 32> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(std::min(floor, 255)));
  HWY_ALIGN std::uint8_t differs[kBlock];
  HWY_ALIGN std::uint64_t sums[kBlock / 8];
  const std::size_t whole = width / lanes * lanes;
  for (std::size_t begin = 0; begin < whole; begin += kBlock) {
    const std::size_t count = std::min(whole - begin, kBlock);
    for (int y = 0; y < rows; ++y) {
      const std::uint8_t* row_a = a + y * a_pitch + begin;
      const std::uint8_t* row_b = b + y * b_pitch + begin;
      for (std::size_t x = 0; x < count; x += lanes) {
        const auto va = hn::LoadU(d, row_a + x);
        const auto vb = hn::LoadU(d, row_b + x);
        const auto difference = hn::Or(hn::SaturatedSub(va, vb), hn::SaturatedSub(vb, va));
        auto sum = hn::SumsOf8(hn::SaturatedSub(difference, limit));
        auto any = difference;
        if (y > 0) {
          sum = hn::Add(sum, hn::Load(d64, sums + x / 8));
          any = hn::Or(any, hn::Load(d, differs + x));
        }
        hn::Store(sum, d64, sums + x / 8);
        hn::Store(any, d, differs + x);
      }
    }
    for (std::size_t x = 0; x < count; x += 16) {
      std::uint64_t any[2];
      std::memcpy(any, differs + x, 16);
      unequal[(begin + x) / 16] = (any[0] | any[1]) != 0 ? 1 : 0;
      energy[(begin + x) / 16] = static_cast<std::uint32_t>(sums[x / 8] + sums[x / 8 + 1]);
    }
  }
  if (whole < width) {
    plain_ops().compare8(a + whole, a_pitch, b + whole, b_pitch, width - whole, rows, floor, unequal + whole / 16,
                         energy + whole / 16);
  }
}

void count_over8(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold) {
  const Bytes d;
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(std::min(threshold, 255)));
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, std::uint8_t{1});
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto over = excess(hn::LoadU(d, a + i), hn::LoadU(d, b + i), limit);
    const auto add = hn::IfThenElse(hn::Eq(over, zero), zero, one);
    hn::StoreU(hn::Add(hn::LoadU(d, marks + i), add), d, marks + i);
  }
  for (; i < n; ++i) marks[i] = static_cast<std::uint8_t>(marks[i] + (std::abs(a[i] - b[i]) > threshold ? 1 : 0));
}

void count_over16(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* marks, std::size_t n, int threshold) {
  const Words d;
  const auto limit = hn::Set(d, static_cast<std::uint16_t>(std::min(threshold, 65535)));
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, std::uint16_t{1});
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto over = excess(hn::LoadU(d, words(a + 2 * i)), hn::LoadU(d, words(b + 2 * i)), limit);
    const auto add = hn::IfThenElse(hn::Eq(over, zero), zero, one);
    hn::StoreU(hn::Add(hn::LoadU(d, words(marks + 2 * i)), add), d, words(marks + 2 * i));
  }
  for (; i < n; ++i) {
    const bool over = std::abs(load16(a + 2 * i) - load16(b + 2 * i)) > threshold;
    store16(marks + 2 * i, load16(marks + 2 * i) + (over ? 1 : 0));
  }
}

void sum_marks(const std::uint8_t* marks, std::size_t tiles, std::size_t tile_bytes, std::uint32_t* sums) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = 0; t < tiles; ++t) {
    auto sum = hn::Zero(d64);
    for (std::size_t i = 0; i < tile_bytes; i += lanes) {
      sum = hn::Add(sum, hn::SumsOf8(hn::LoadU(d, marks + t * tile_bytes + i)));
    }
    sums[t] += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, sum)));
  }
}

std::uint32_t energy8(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                      int width, int height, int floor) {
  const hn::CappedTag<std::uint8_t, 16> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(std::min(floor, 255)));
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto sums = hn::Zero(d64);
  int tail = 0;
  for (int y = 0; y < height; ++y, a += a_pitch, b += b_pitch) {
    int x = 0;
    for (; x + lanes <= width; x += lanes) {
      sums = hn::Add(sums, hn::SumsOf8(excess(hn::LoadU(d, a + x), hn::LoadU(d, b + x), limit)));
    }
    for (; x < width; ++x) tail += std::max(std::abs(a[x] - b[x]) - floor, 0);
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) + static_cast<std::uint32_t>(tail);
}

std::uint32_t energy16(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b, std::ptrdiff_t b_pitch,
                       int width, int height, int floor) {
  const hn::CappedTag<std::uint16_t, 8> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  const auto limit = hn::Set(d, static_cast<std::uint16_t>(std::min(floor, 65535)));
  const auto low = hn::Set(d32, 0xffffU);
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto sums = hn::Zero(d32);
  int tail = 0;
  for (int y = 0; y < height; ++y, a += a_pitch, b += b_pitch) {
    int x = 0;
    for (; x + lanes <= width; x += lanes) {
      const auto over = hn::BitCast(d32, excess(hn::LoadU(d, words(a + 2 * x)), hn::LoadU(d, words(b + 2 * x)), limit));
      sums = hn::Add(sums, hn::Add(hn::And(over, low), hn::ShiftRight<16>(over)));
    }
    for (; x < width; ++x) tail += std::max(std::abs(load16(a + 2 * x) - load16(b + 2 * x)) - floor, 0);
  }
  return hn::GetLane(hn::SumOfLanes(d32, sums)) + static_cast<std::uint32_t>(tail);
}

}  // namespace

void fill_rows(CpuOps* ops) {
  ops->interleave8 = interleave8;
  ops->interleave16 = interleave16;
  ops->shift16 = shift16;
  ops->compare8 = compare8;
  ops->mark_unequal = mark_unequal;
  ops->count_over8 = count_over8;
  ops->count_over16 = count_over16;
  ops->sum_marks = sum_marks;
  ops->energy8 = energy8;
  ops->energy16 = energy16;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade {

HWY_EXPORT(fill_rows);

void use_simd_rows(CpuOps& ops) { HWY_DYNAMIC_DISPATCH(fill_rows)(&ops); }

}  // namespace saccade
#endif
