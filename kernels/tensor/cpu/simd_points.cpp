// Blocks of single points. Compiled once per instruction set by foreach_target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tensor/cpu/simd_points.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kernels/tensor/cpu/point_ops.h"

HWY_BEFORE_NAMESPACE();
namespace saccade::tensor::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void fill_points(AllPointOps*) {}  // no vectors: the plain versions stay

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using Numbers = hn::CappedTag<V, 16>;

// A tap of each lane along one axis; indices as numbers, which are exact.
template <class Vec, class Mask>
struct AxisTaps {
  Vec first, second, weight;
  Mask first_inside, second_inside;
};

template <class D, class Vec = hn::Vec<D>, class Mask = hn::Mask<D>>
HWY_INLINE AxisTaps<Vec, Mask> axis_taps(D d, Vec place_px, hn::TFromD<D> scale, std::int32_t extent, bool zeros) {
  using V = hn::TFromD<D>;
  const auto zero = hn::Zero(d);
  const auto outside = hn::Set(d, V(-1));
  const auto end = hn::Set(d, static_cast<V>(extent));
  const auto last = hn::Set(d, static_cast<V>(extent - 1));
  const auto exact = hn::Sub(hn::Mul(place_px, hn::Set(d, scale)), hn::Set(d, V(0.5)));
  const auto above = hn::IfThenElse(hn::Gt(exact, outside), exact, outside);  // not a number, too
  const auto coordinate = hn::IfThenElse(hn::Lt(above, end), above, end);
  const auto index = hn::Floor(coordinate);
  const auto next = hn::Add(index, hn::Set(d, V(1)));
  const auto second = hn::Min(next, last);
  AxisTaps<Vec, Mask> taps;
  taps.weight = hn::Sub(coordinate, index);
  taps.first = hn::Min(hn::Max(index, zero), last);
  taps.second = zeros ? second : hn::IfThenElseZero(hn::Gt(coordinate, zero), second);
  taps.first_inside = hn::And(hn::Ge(index, zero), hn::Lt(index, end));
  taps.second_inside = hn::And(hn::Ge(exact, outside), hn::Lt(next, end));
  return taps;
}

// Whole numbers as 32-bit integers.
template <class D, class Vec>
HWY_INLINE auto whole(D d, Vec numbers) {
  const hn::Rebind<std::int32_t, D> to;
  static_cast<void>(d);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ConvertTo(to, numbers);
  } else {
    return hn::DemoteTo(to, numbers);
  }
}

template <class V>
void point_taps(const V* x_px, const V* y_px, const PointGrid<V>& grid, PointTaps<V>* taps) {
  if (!grid.read_x.is_plain()) return plain::point_taps(x_px, y_px, grid, taps);
  const Numbers<V> d;
  const hn::Rebind<std::int32_t, Numbers<V>> offsets;
  const hn::RebindToUnsigned<Numbers<V>> bits;
  const auto stride_x = hn::Set(offsets, grid.stride_x);
  const auto stride_y = hn::Set(offsets, grid.stride_y);
  for (std::size_t i = 0; i < kPoints; i += hn::Lanes(d)) {
    const auto x = axis_taps(d, hn::LoadU(d, x_px + i), grid.scale, grid.width, grid.zeros());
    const auto y = axis_taps(d, hn::LoadU(d, y_px + i), grid.scale, grid.height, grid.zeros());
    const auto left = hn::Mul(whole(d, x.first), stride_x);
    const auto right = hn::Mul(whole(d, x.second), stride_x);
    const auto top = hn::Mul(whole(d, y.first), stride_y);
    const auto bottom = hn::Mul(whole(d, y.second), stride_y);
    hn::StoreU(hn::Add(top, left), offsets, taps->at[0] + i);
    hn::StoreU(hn::Add(top, right), offsets, taps->at[1] + i);
    hn::StoreU(hn::Add(bottom, left), offsets, taps->at[2] + i);
    hn::StoreU(hn::Add(bottom, right), offsets, taps->at[3] + i);
    hn::StoreU(x.weight, d, taps->wx + i);
    hn::StoreU(y.weight, d, taps->wy + i);
    if (!grid.zeros()) continue;
    const auto store = [&](int k, auto mask) HWY_ATTR {
      hn::StoreU(hn::BitCast(bits, hn::VecFromMask(d, mask)), bits, taps->inside[k] + i);
    };
    store(0, hn::And(y.first_inside, x.first_inside));
    store(1, hn::And(y.first_inside, x.second_inside));
    store(2, hn::And(y.second_inside, x.first_inside));
    store(3, hn::And(y.second_inside, x.second_inside));
  }
}

template <class V>
HWY_INLINE auto inside_at(const PointTaps<V>& taps, int k, std::size_t i) {
  const hn::RebindToUnsigned<Numbers<V>> bits;
  return hn::BitCast(Numbers<V>(), hn::LoadU(bits, taps.inside[k] + i));
}

template <class V>
void clear_outside(const PointTaps<V>& taps, PointTexels<V>* texels) {
  const Numbers<V> d;
  for (int k = 0; k < 4; ++k) {
    for (std::size_t i = 0; i < kPoints; i += hn::Lanes(d)) {
      hn::StoreU(hn::And(hn::LoadU(d, texels->at[k] + i), inside_at(taps, k, i)), d, texels->at[k] + i);
    }
  }
}

template <class Vec>
HWY_INLINE Vec mix_of(Vec a, Vec b, Vec weight) {
  return hn::Add(a, hn::Mul(hn::Sub(b, a), weight));
}

template <class V>
void blend(const PointTexels<V>& texels, const PointTaps<V>& taps, V* values) {
  const Numbers<V> d;
  for (std::size_t i = 0; i < kPoints; i += hn::Lanes(d)) {
    const auto texel = [&](int k) HWY_ATTR { return hn::LoadU(d, texels.at[k] + i); };
    const auto wx = hn::LoadU(d, taps.wx + i);
    const auto top = mix_of(texel(0), texel(1), wx);
    const auto bottom = mix_of(texel(2), texel(3), wx);
    hn::StoreU(mix_of(top, bottom, hn::LoadU(d, taps.wy + i)), d, values + i);
  }
}

template <class V>
bool weights(const PointTaps<V>& taps, bool zeros, PointTexels<V>* weights) {
  const Numbers<V> d;
  const auto one = hn::Set(d, V(1));
  auto least = one;  // of those that none is below 0
  for (std::size_t i = 0; i < kPoints; i += hn::Lanes(d)) {
    const auto wx = hn::LoadU(d, taps.wx + i);
    const auto wy = hn::LoadU(d, taps.wy + i);
    const auto left = hn::Sub(one, wx);
    const auto top = hn::Sub(one, wy);
    const auto store = [&](int k, auto weight) HWY_ATTR {
      if (zeros) weight = hn::And(weight, inside_at(taps, k, i));
      hn::StoreU(weight, d, weights->at[k] + i);
      least = hn::Min(least, weight);
    };
    store(0, hn::Mul(left, top));
    store(1, hn::Mul(wx, top));
    store(2, hn::Mul(left, wy));
    store(3, hn::Mul(wx, wy));
  }
  return hn::AllTrue(d, hn::Gt(least, hn::Zero(d)));
}

template <class V>
void slopes(const PointTexels<V>& texels, const PointTaps<V>& taps, PointSlopes<V>* slopes) {
  const Numbers<V> d;
  for (std::size_t i = 0; i < kPoints; i += hn::Lanes(d)) {
    const auto step = [&](int from, int to) HWY_ATTR {
      return hn::Sub(hn::LoadU(d, texels.at[to] + i), hn::LoadU(d, texels.at[from] + i));
    };
    hn::StoreU(mix_of(step(0, 1), step(2, 3), hn::LoadU(d, taps.wy + i)), d, slopes->x + i);
    hn::StoreU(mix_of(step(0, 2), step(1, 3), hn::LoadU(d, taps.wx + i)), d, slopes->y + i);
  }
}

template <class V>
PointOps<V> ops() {
  return {point_taps<V>, clear_outside<V>, blend<V>, weights<V>, slopes<V>};
}

}  // namespace

void fill_points(AllPointOps* all) {
  std::get<0>(*all) = ops<float>();
  std::get<1>(*all) = ops<double>();
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace saccade::tensor::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace saccade::tensor::cpu {

HWY_EXPORT(fill_points);

AllPointOps simd_point_ops() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());  // function pointers are taken below, before any call
  AllPointOps all = {plain_point_ops<float>(), plain_point_ops<double>()};
  HWY_DYNAMIC_DISPATCH(fill_points)(&all);
  return all;
}

}  // namespace saccade::tensor::cpu
#endif
