// Patches of samples, rows at a time. Compiled once per instruction set by foreach_target.
//
// Bilinear weights are separable: a block's columns share one table of taps, its rows another. Each texel row that a
// sample row needs is fetched and lerped horizontally once, kept for the next sample row, then rows are lerped
// vertically and between levels. The same float operations in the same order as the plain sampler, so the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd_sampler.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/sample_math.h"

HWY_BEFORE_NAMESPACE();
namespace saccade {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_sampler(CpuOps*) {}  // no vectors: the plain versions stay

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 64;  // samples along a side of a block
using Floats = hn::CappedTag<float, 16>;
using Ints = hn::Rebind<std::int32_t, Floats>;
using Uints = hn::Rebind<std::uint32_t, Floats>;
using FloatVec = hn::Vec<Floats>;

HWY_INLINE FloatVec lerp(FloatVec a, FloatVec b, FloatVec t) { return hn::Add(a, hn::Mul(hn::Sub(b, a), t)); }

// Whole numbers of magnitude below 2^22: their low bits, once they share the exponent of 1.5 * 2^23. Highway's
// ConvertTo also minds what doesn't fit, for four times the instructions.
HWY_INLINE hn::Vec<Uints> whole_bits(FloatVec whole) {
  return hn::BitCast(Uints(), hn::Add(whole, hn::Set(Floats(), 12582912.0f)));
}
HWY_INLINE hn::Vec<Ints> whole_to_int(FloatVec whole) {
  return hn::Sub(hn::BitCast(Ints(), whole_bits(whole)), hn::Set(Ints(), 0x4b400000));
}

// Taps of up to kBlock samples along one axis, rounded up to whole vectors. Where the level ends the weight is 0 and
// the second tap is not needed: lerp(a, a, t) and lerp(a, b, 0) are both a.
struct AxisTable {
  HWY_ALIGN std::int32_t first[kBlock];
  HWY_ALIGN float weight[kBlock];
  bool contiguous = false;  // first[i] = first[0] + i
  bool whole = false;       // all weights are 0
};

// A patch along one axis.
struct AxisSpan {
  float centre_px;
  float pitch_px;
  int size;   // samples of the whole patch
  int begin;  // first sample of the block
  std::size_t count;
};

void make_table(const AxisSpan& span, float plane_scale, float shift, float unit, int extent, AxisTable& table) {
  const Floats df;
  const Ints di;
  const auto lanes = hn::Lanes(df);
  const auto half = hn::Set(df, 0.5f * static_cast<float>(span.size - 1));
  const auto limit = hn::Set(df, static_cast<float>(extent));
  const auto last = hn::Set(di, extent - 1);
  const auto outside = hn::Set(df, -1.0f);
  auto follows = hn::Eq(hn::Zero(di), hn::Zero(di));
  auto whole = hn::Eq(hn::Zero(df), hn::Zero(df));
  auto expected = hn::Zero(di);
  for (std::size_t i = 0; i < span.count; i += lanes) {
    const auto index = hn::ConvertTo(df, hn::Iota(di, span.begin + static_cast<int>(i)));
    const auto position =
        hn::Add(hn::Set(df, span.centre_px), hn::Mul(hn::Sub(index, half), hn::Set(df, span.pitch_px)));
    const auto scaled = hn::Add(hn::Mul(position, hn::Set(df, plane_scale)), hn::Set(df, shift));
    const auto coordinate = hn::Sub(hn::Mul(scaled, hn::Set(df, unit)), hn::Set(df, 0.5f));
    const auto inside = hn::IfThenElse(hn::Gt(coordinate, outside), hn::Min(coordinate, limit), outside);
    const auto floor = hn::Floor(inside);
    const auto tap = whole_to_int(floor);
    const auto first = hn::Min(hn::Max(tap, hn::Zero(di)), last);
    const auto both = hn::And(hn::Gt(tap, hn::Set(di, -1)), hn::Lt(tap, last));
    const auto weight = hn::IfThenElseZero(hn::RebindMask(df, both), hn::Sub(inside, floor));
    hn::Store(first, di, table.first + i);
    hn::Store(weight, df, table.weight + i);
    if (i == 0) expected = hn::Add(hn::Set(di, table.first[0]), hn::Iota(di, 0));
    follows = hn::And(follows, hn::Eq(first, expected));
    whole = hn::And(whole, hn::Eq(weight, hn::Zero(df)));
    expected = hn::Add(expected, hn::Set(di, static_cast<std::int32_t>(lanes)));
  }
  table.contiguous = hn::AllTrue(di, follows);
  table.whole = hn::AllTrue(df, whole);
}

// Two neighbouring texels of a row per lane, their samples side by side from the lowest bits up.
struct TexelPairs {
  hn::Vec<Uints> first;
  hn::Vec<Uints> second;
};

template <class T, int kChannels>
HWY_INLINE TexelPairs fetch(const std::uint8_t* row, const AxisTable& table, std::size_t i) {
  constexpr int kBytes = static_cast<int>(sizeof(T)) * kChannels;
  const Uints du;
  const Ints di;
  if (table.contiguous) {
    const std::uint8_t* at = row + (table.first[0] + static_cast<int>(i)) * kBytes;
    if constexpr (kBytes == 4) {
      return {hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(at)),
              hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(at + 4))};
    } else {
      using Texel = hwy::UnsignedFromSize<kBytes>;
      const hn::Rebind<Texel, Uints> dt;
      return {hn::PromoteTo(du, hn::LoadU(dt, reinterpret_cast<const Texel*>(at))),
              hn::PromoteTo(du, hn::LoadU(dt, reinterpret_cast<const Texel*>(at + kBytes)))};
    }
  }
  const auto texel = hn::Load(di, table.first + i);
  const auto offset = hn::ShiftLeft < kBytes == 4 ? 2 : kBytes == 2 ? 1 : 0 > (texel);
  const auto gather = [&](const std::uint8_t* base) HWY_ATTR {
    return hn::BitCast(du, hn::GatherOffset(di, reinterpret_cast<const std::int32_t*>(base), offset));
  };
  const auto raw = gather(row);
  if constexpr (kBytes == 4) {
    return {raw, gather(row + 4)};
  } else {
    return {raw, hn::ShiftRight<8 * kBytes>(raw)};
  }
}

template <class T, int kChannel>
HWY_INLINE FloatVec channel(hn::Vec<Uints> texels) {
  const Uints du;
  const auto code =
      hn::And(hn::ShiftRight<8 * static_cast<int>(sizeof(T)) * kChannel>(texels), hn::Set(du, hwy::LimitsMax<T>()));
  return hn::ConvertTo(Floats(), hn::BitCast(Ints(), code));
}

// The sample row's two texel rows of one level; bottom is null where its weight is 0. Channels are kBlock apart.
struct RowPair {
  const float* top = nullptr;
  const float* bottom = nullptr;
  float weight = 0;

  HWY_INLINE FloatVec read(std::size_t i) const {
    const Floats df;
    const auto a = hn::Load(df, top + i);
    if (bottom == nullptr) return a;
    return lerp(a, hn::Load(df, bottom + i), hn::Set(df, weight));
  }
};

// One level of one plane over a block. Keeps the two texel rows last used, lerped horizontally.
template <class T, int kChannels>
class LevelReader {
 public:
  void start(const LevelView& view, const PlaneScale& scale, float unit, const AxisSpan& x, const AxisSpan& y) {
    view_ = view;
    count_ = x.count;
    make_table(x, scale.plane_scale, scale.shift_x, unit, view.width, x_);
    make_table(y, scale.plane_scale, scale.shift_y, unit, view.height, y_);
    kept_[0] = kept_[1] = -1;
  }

  // Every sample lies on a texel, and neighbours in a row on neighbours: nothing to mix, rows can be read in place.
  bool on_texels() const { return x_.contiguous && x_.whole && y_.whole; }
  HWY_INLINE const T* texels(std::size_t j) const {
    return reinterpret_cast<const T*>(view_.row(y_.first[j])) + std::ptrdiff_t{x_.first[0]} * kChannels;
  }

  HWY_INLINE RowPair rows(std::size_t j) {
    const int first = y_.first[j];
    const float weight = y_.weight[j];
    return {row(first), weight == 0.0f ? nullptr : row(first + 1), weight};
  }

 private:
  static constexpr int kUsed = kChannels == 4 ? 3 : kChannels;  // alpha is not sampled

  HWY_INLINE const float* row(int y) {
    const int slot = y & 1;
    if (kept_[slot] != y) {
      kept_[slot] = y;
      lerp_row(view_.row(y), values_[slot]);
    }
    return values_[slot];
  }

  void lerp_row(const std::uint8_t* row, float* out) {
    const Floats df;
    for (std::size_t i = 0; i < count_; i += hn::Lanes(df)) {
      const TexelPairs pairs = fetch<T, kChannels>(row, x_, i);
      const auto weight = hn::Load(df, x_.weight + i);
      lerp_channel<0>(pairs, weight, out + i);
      if constexpr (kUsed > 1) lerp_channel<1>(pairs, weight, out + kBlock + i);
      if constexpr (kUsed > 2) lerp_channel<2>(pairs, weight, out + 2 * kBlock + i);
    }
  }

  template <int kChannel>
  HWY_INLINE void lerp_channel(const TexelPairs& pairs, FloatVec weight, float* out) {
    auto value = channel<T, kChannel>(pairs.first);
    if (!x_.whole) value = lerp(value, channel<T, kChannel>(pairs.second), weight);
    hn::Store(value, Floats(), out);
  }

  LevelView view_;
  std::size_t count_ = 0;
  AxisTable x_;
  AxisTable y_;
  int kept_[2] = {-1, -1};
  HWY_ALIGN float values_[2][kUsed * kBlock];
};

// One plane: one level, or two mixed.
template <class T, int kChannels>
class PlaneReader {
 public:
  void start(std::span<const LevelView> levels, const PlaneScale& scale, float lod, const AxisSpan& x,
             const AxisSpan& y) {
    const LevelMix mix = level_mix(lod, static_cast<int>(levels.size()));
    fraction_ = mix.fraction;
    fine_.start(levels[static_cast<std::size_t>(mix.first)], scale, shared::level_scale(mix.first), x, y);
    if (fraction_ != 0.0f) {
      coarse_.start(levels[static_cast<std::size_t>(mix.second)], scale, shared::level_scale(mix.second), x, y);
    }
  }
  bool one_level() const { return fraction_ == 0.0f; }
  LevelReader<T, kChannels>& fine() { return fine_; }
  HWY_INLINE void next_row(std::size_t j) {
    fine_rows_ = fine_.rows(j);
    if (fraction_ != 0.0f) coarse_rows_ = coarse_.rows(j);
  }
  HWY_INLINE FloatVec read(int channel, std::size_t i) const {
    const std::size_t at = static_cast<std::size_t>(channel) * kBlock + i;
    const auto fine = fine_rows_.read(at);
    if (fraction_ == 0.0f) return fine;
    return lerp(fine, coarse_rows_.read(at), hn::Set(Floats(), fraction_));
  }

 private:
  float fraction_ = 0;
  LevelReader<T, kChannels> fine_;
  LevelReader<T, kChannels> coarse_;
  RowPair fine_rows_;
  RowPair coarse_rows_;
};

struct RgbVec {
  FloatVec r, g, b;
};

// shared::ycbcr_to_rgb, operation by operation.
HWY_INLINE RgbVec to_rgb(FloatVec y_code, FloatVec cb_code, FloatVec cr_code, const shared::ColorParams& p) {
  const Floats d;
  const auto clamp = [&](FloatVec v) HWY_ATTR { return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 1.0f)); };
  const auto y = hn::Mul(hn::Sub(y_code, hn::Set(d, p.y_offset)), hn::Set(d, p.y_scale));
  const auto cb = hn::Sub(cb_code, hn::Set(d, p.c_offset));
  const auto cr = hn::Sub(cr_code, hn::Set(d, p.c_offset));
  const auto g = hn::Add(hn::Add(y, hn::Mul(hn::Set(d, p.g_cb), cb)), hn::Mul(hn::Set(d, p.g_cr), cr));
  return {clamp(hn::Add(y, hn::Mul(hn::Set(d, p.r_cr), cr))), clamp(g),
          clamp(hn::Add(y, hn::Mul(hn::Set(d, p.b_cb), cb)))};
}

// shared::half_from_float, branch by branch.
HWY_INLINE hn::Vec<Ints> to_half(FloatVec value) {
  const Uints du;
  const Floats df;
  const auto bits = hn::BitCast(du, value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000U));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto subnormal =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f))), hn::Set(du, 0x3f000000U));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
  const auto biased = hn::Add(hn::Sub(magnitude, hn::Set(du, 0x38000000U - 0xfffU)), odd);
  const Ints di;
  const auto compare = hn::BitCast(di, magnitude);  // never negative
  auto half = hn::ShiftRight<13>(biased);
  const auto choose = [&](auto mask, auto yes, auto no)
                          HWY_ATTR { return hn::IfThenElse(hn::RebindMask(du, mask), yes, no); };
  half = choose(hn::Lt(compare, hn::Set(di, 0x38800000)), subnormal, half);
  half = choose(hn::Gt(compare, hn::Set(di, 0x477fffff)), hn::Set(du, 0x7c00U), half);
  half = hn::Or(sign, half);
  half = choose(hn::Gt(compare, hn::Set(di, 0x7f800000)), hn::Set(du, 0x7fffU), half);
  return hn::BitCast(di, half);
}

// Writes a vector of lanes, or the first `count` of them.
template <class D, class V>
HWY_INLINE void store_some(D d, V values, std::byte* out, std::size_t count) {
  using T = hn::TFromD<D>;
  if (count >= hn::Lanes(d)) {
    hn::StoreU(values, d, reinterpret_cast<T*>(out));
    return;
  }
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(values, d, buffer);
  std::memcpy(out, buffer, count * sizeof(T));
}

template <SampleType kType>
HWY_INLINE void store(FloatVec value, float mean, float inv_std, std::byte* out, std::size_t count) {
  const Floats d;
  if constexpr (kType == SampleType::kU8) {
    const auto code = hn::Add(hn::Mul(value, hn::Set(d, 255.0f)), hn::Set(d, 0.5f));  // below 256: truncated to 255
    const hn::Rebind<std::uint8_t, Floats> narrow;
    store_some(narrow, hn::TruncateTo(narrow, whole_bits(hn::Floor(code))), out, count);
  } else {
    const auto normalised = hn::Mul(hn::Sub(value, hn::Set(d, mean)), hn::Set(d, inv_std));
    if constexpr (kType == SampleType::kF16) {
      const hn::Rebind<std::uint16_t, Floats> narrow;
      store_some(narrow, hn::DemoteTo(narrow, to_half(normalised)), out, count);
    } else {
      store_some(d, normalised, out, count);
    }
  }
}

template <SampleType kType>
HWY_INLINE void store_rgb(const RgbVec& rgb, const SampleFormat& format, std::byte* out, std::size_t plane_bytes,
                          std::size_t count) {
  store<kType>(rgb.r, format.mean[0], format.inv_std[0], out, count);
  store<kType>(rgb.g, format.mean[1], format.inv_std[1], out + plane_bytes, count);
  store<kType>(rgb.b, format.mean[2], format.inv_std[2], out + 2 * plane_bytes, count);
}

// A block whose luma samples lie on texels of one level and whose chroma is of one level: most of a nested lattice.
template <class T, SampleType kType>
void sample_on_texels(LevelReader<T, 1>& luma, LevelReader<T, 2>& chroma, const shared::ColorParams& color,
                      const SampleFormat& format, const AxisSpan& x, const AxisSpan& y, std::byte* out) {
  constexpr std::size_t kBytes = size_bytes(kType);
  const Floats d;
  const hn::Rebind<T, Floats> narrow;
  const auto row = static_cast<std::size_t>(x.size);
  for (std::size_t j = 0; j < y.count; ++j) {
    const T* codes = luma.texels(j);
    const RowPair pair = chroma.rows(j);
    const auto convert = [&](auto read) HWY_ATTR {
      for (std::size_t i = 0; i < x.count; i += hn::Lanes(d)) {
        const auto y_code = hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::LoadU(narrow, codes + i)));
        store_rgb<kType>(to_rgb(y_code, read(i), read(kBlock + i), color), format, out + (j * row + i) * kBytes,
                         row * row * kBytes, hn::Lanes(d));
      }
    };
    if (pair.bottom == nullptr) {
      convert([&](std::size_t i) HWY_ATTR { return hn::Load(d, pair.top + i); });
    } else {
      const auto weight = hn::Set(d, pair.weight);
      convert([&](std::size_t i)
                  HWY_ATTR { return lerp(hn::Load(d, pair.top + i), hn::Load(d, pair.bottom + i), weight); });
    }
  }
}

template <class T, SampleType kType>
void sample_ycbcr(const SampleSource& source, const Patch& patch, const SampleFormat& format, const AxisSpan& x,
                  const AxisSpan& y, std::byte* out) {
  PlaneReader<T, 1> luma;
  PlaneReader<T, 2> chroma;
  luma.start(source.luma, {}, patch.lod, x, y);
  chroma.start(source.chroma, {0.5f, source.site_shift_x, source.site_shift_y}, shared::chroma_lod(patch.lod), x, y);
  const shared::ColorParams color = source.color;
  if (luma.one_level() && chroma.one_level() && luma.fine().on_texels() && x.count % hn::Lanes(Floats()) == 0) {
    sample_on_texels<T, kType>(luma.fine(), chroma.fine(), color, format, x, y, out);
    return;
  }
  constexpr std::size_t kBytes = size_bytes(kType);
  const auto row = static_cast<std::size_t>(x.size);
  for (std::size_t j = 0; j < y.count; ++j) {
    luma.next_row(j);
    chroma.next_row(j);
    for (std::size_t i = 0; i < x.count; i += hn::Lanes(Floats())) {
      const RgbVec rgb = to_rgb(luma.read(0, i), chroma.read(0, i), chroma.read(1, i), color);
      store_rgb<kType>(rgb, format, out + (j * row + i) * kBytes, row * row * kBytes, x.count - i);
    }
  }
}

template <SampleType kType>
void sample_rgba(const SampleSource& source, const Patch& patch, const SampleFormat& format, const AxisSpan& x,
                 const AxisSpan& y, std::byte* out) {
  PlaneReader<std::uint8_t, 4> rgba;
  rgba.start(source.luma, {}, patch.lod, x, y);
  constexpr std::size_t kBytes = size_bytes(kType);
  const auto row = static_cast<std::size_t>(x.size);
  const auto white = hn::Set(Floats(), 255.0f);
  for (std::size_t j = 0; j < y.count; ++j) {
    rgba.next_row(j);
    for (std::size_t i = 0; i < x.count; i += hn::Lanes(Floats())) {
      const RgbVec rgb{hn::Div(rgba.read(0, i), white), hn::Div(rgba.read(1, i), white),
                       hn::Div(rgba.read(2, i), white)};
      store_rgb<kType>(rgb, format, out + (j * row + i) * kBytes, row * row * kBytes, x.count - i);
    }
  }
}

template <SampleType kType>
void sample_blocks(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                   std::byte* out) {
  const float pitch_px = shared::exp2(patch.lod);
  const int block = static_cast<int>(kBlock);
  for (int j = 0; j < size; j += block) {
    const AxisSpan y{patch.y_px, pitch_px, size, j, static_cast<std::size_t>(std::min(block, size - j))};
    for (int i = 0; i < size; i += block) {
      const AxisSpan x{patch.x_px, pitch_px, size, i, static_cast<std::size_t>(std::min(block, size - i))};
      std::byte* at =
          out + (static_cast<std::size_t>(j) * static_cast<std::size_t>(size) + static_cast<std::size_t>(i)) *
                    size_bytes(kType);
      if (source.chroma.empty()) {
        sample_rgba<kType>(source, patch, format, x, y, at);
      } else if (source.wide) {
        sample_ycbcr<std::uint16_t, kType>(source, patch, format, x, y, at);
      } else {
        sample_ycbcr<std::uint8_t, kType>(source, patch, format, x, y, at);
      }
    }
  }
}

// A patch wholly outside: zero R'G'B'.
void fill_outside(int size, const SampleFormat& format, std::byte* out) {
  const auto samples = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  if (format.type == SampleType::kU8) {
    std::memset(out, 0, 3 * samples);
    return;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const float value = (0.0f - format.mean[c]) * format.inv_std[c];
    if (format.type == SampleType::kF16) {
      std::fill_n(reinterpret_cast<std::uint16_t*>(out) + c * samples, samples,
                  static_cast<std::uint16_t>(shared::half_from_float(value)));
    } else {
      std::fill_n(reinterpret_cast<float*>(out) + c * samples, samples, value);
    }
  }
}

void sample_patch(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                  std::byte* out) {
  if (!(patch.coverage > 0.0f)) {
    fill_outside(size, format, out);
    return;
  }
  switch (format.type) {
    case SampleType::kU8:
      sample_blocks<SampleType::kU8>(source, patch, size, format, out);
      break;
    case SampleType::kF16:
      sample_blocks<SampleType::kF16>(source, patch, size, format, out);
      break;
    case SampleType::kF32:
      sample_blocks<SampleType::kF32>(source, patch, size, format, out);
      break;
  }
}

}  // namespace

void fill_sampler(CpuOps* ops) { ops->sample_patch = sample_patch; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade {

HWY_EXPORT(fill_sampler);

void use_simd_sampler(CpuOps& ops) { HWY_DYNAMIC_DISPATCH(fill_sampler)(&ops); }

}  // namespace saccade
#endif
