// Where the samples of a patch read a pyramid, and how a change of the patch moves them: pure functions, for the host
// and for a device.
//
// Note [Tensor samples]
// Positions are continuous level-0 pixels, the centre of pixel i at i + 0.5; a centre's is uv times the size of level
// 0. Sample (i, j) of an S x S patch lies at centre + (i - (S-1)/2) * 2^lod * along + (j - (S-1)/2) * 2^lod * across.
// Without a direction along = (1, 0) and across = (0, 1). With one, along has its direction and its length r, across is
// the unit vector at a right angle, and the sample is the mean of n = ceil(r) probes, moved by t * 2^lod * along with
// t = (k + 1/2)/n - 1/2. (Without `rotate` the axes stay (1, 0), (0, 1), and the probes alone follow the direction.)
// At level l a position is the texel coordinate x * 2^-l - 0.5: two neighbours per axis, mixed linearly. Levels
// floor(lod) and floor(lod) + 1 are mixed by the fraction of lod. One written order, no fused multiply-add: host and
// device agree in every bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/shared/taps.h"
#include "kernels/tensor/element.h"

namespace saccade::tensor {

inline constexpr double kLn2 = 0.69314718055994530942;

template <class V>
SACCADE_TENSOR_FN V level_scale(int level) {
  return static_cast<V>(shared::level_scale(level));
}

// 2^x for 0 <= x < 2^5, the same bits on every machine: the C library's and CUDA's differ in the last one. The Taylor
// series of the fraction, (x ln 2)^k / k!, by Horner's rule: within 2e-7 (float) and 4e-16 (double) of the value.
SACCADE_TENSOR_FN float exp2_exact(float x) {
  const int whole = static_cast<int>(x);
  const float y = x - static_cast<float>(whole);
  float sum = 1.32154867e-06f;
  sum = sum * y + 1.52527336e-05f;
  sum = sum * y + 0.000154035297f;
  sum = sum * y + 0.00133335579f;
  sum = sum * y + 0.00961812865f;
  sum = sum * y + 0.0555041097f;
  sum = sum * y + 0.240226507f;
  sum = sum * y + 0.693147182f;
  sum = sum * y + 1.0f;
  return static_cast<float>(1U << whole) * sum;
}
SACCADE_TENSOR_FN double exp2_exact(double x) {
  const int whole = static_cast<int>(x);
  const double y = x - static_cast<double>(whole);
  double sum = 3.132436707088427e-15;
  sum = sum * y + 6.778726354822543e-14;
  sum = sum * y + 1.3691488853904124e-12;
  sum = sum * y + 2.5678435993488196e-11;
  sum = sum * y + 4.44553827187081e-10;
  sum = sum * y + 7.054911620801121e-09;
  sum = sum * y + 1.0178086009239696e-07;
  sum = sum * y + 1.3215486790144305e-06;
  sum = sum * y + 1.5252733804059838e-05;
  sum = sum * y + 0.00015403530393381606;
  sum = sum * y + 0.0013333558146428441;
  sum = sum * y + 0.009618129107628477;
  sum = sum * y + 0.055504108664821576;
  sum = sum * y + 0.2402265069591007;
  sum = sum * y + 0.6931471805599453;
  sum = sum * y + 1.0;
  return static_cast<double>(1U << whole) * sum;
}

template <class V>
struct Vec2 {
  V x, y;
};

template <class V>
SACCADE_TENSOR_FN V clamp_to(V value, V lowest, V most) {
  if (!(value > lowest)) return lowest;  // not a number, too
  return value < most ? value : most;
}

// Note [Outside a level]
// kWrap and kMirror move a position into the image first, so that all levels repeat with the image's own size, even
// where an odd size makes a level's texels cover more or less than that. kWrap then reads the texel of the other edge
// beyond an edge. kMirror reads the edge's texel there, as kBorder does. Where the image is mirrored the two neighbours
// swap, so that second - first is the slope with its sign. kZeros counts 0 outside.
enum class Padding : std::int32_t { kBorder, kZeros, kWrap, kMirror };

// How an axis is read. nearest: the texel that a position lies in, in place of two neighbours that are mixed.
struct AxisRead {
  Padding padding;
  bool nearest;
  int image_px;  // extent of level 0

  // Whether an edge is all that needs care.
  SACCADE_TENSOR_FN bool is_plain() const {
    return !nearest && (padding == Padding::kBorder || padding == Padding::kZeros);
  }
};

// One axis of a bilinear read: two neighbours and the weight of the second. Outside they are the edge's texel or, with
// zeros, texels that count 0 (`first_inside`, `second_inside`).
template <class V>
struct Tap {
  int first, second;
  V weight;
  bool first_inside, second_inside;
};

template <class V>
SACCADE_TENSOR_FN Tap<V> make_edge_tap(V position_px, V scale, int extent, bool zeros) {
  const V exact = position_px * scale - V(0.5);
  const V coordinate = shared::tap_coordinate(exact, extent);
  const shared::AxisTap<V> clamped = shared::axis_tap(exact, extent);
  Tap<V> tap;
  tap.first = clamped.first;
  tap.second = clamped.second;
  tap.weight = clamped.weight;
  tap.first_inside = !zeros || (coordinate >= V(0) && coordinate < static_cast<V>(extent));
  tap.second_inside = !zeros || (exact >= V(-1) && coordinate < static_cast<V>(extent - 1));
  // At the first texel's centre as at the last one's: a clamped coordinate has no slope.
  if (!zeros && !(coordinate > V(0))) tap.second = 0;
  return tap;
}

// As position_px modulo period_px, 0 or more.
template <class V>
SACCADE_TENSOR_FN V folded(V position_px, V period_px) {
  return position_px - period_px * std::floor(position_px / period_px);
}

SACCADE_TENSOR_FN int wrapped_texel(int index, int extent) { return index < 0 ? extent - 1 : index % extent; }

// The taps that edges alone don't settle: Note [Outside a level].
template <class V>
SACCADE_TENSOR_FN Tap<V> make_other_tap(V position_px, V scale, int extent, const AxisRead& read) {
  const V image_px = static_cast<V>(read.image_px);
  bool mirrored = false;
  if (read.padding == Padding::kWrap) position_px = folded(position_px, image_px);
  if (read.padding == Padding::kMirror) {
    position_px = folded(position_px, V(2) * image_px);
    mirrored = position_px > image_px;
    if (mirrored) position_px = V(2) * image_px - position_px;
  }
  if (read.nearest) {
    const V inside = shared::tap_coordinate(position_px * scale, extent);
    const int texel = static_cast<int>(std::floor(inside));
    const bool counts = read.padding != Padding::kZeros || (texel >= 0 && texel < extent);
    const int at = read.padding == Padding::kWrap ? wrapped_texel(texel, extent) : shared::clamp_texel(texel, extent);
    return {at, at, V(0), counts, counts};
  }
  if (read.padding == Padding::kWrap) {
    const V inside = shared::tap_coordinate(position_px * scale - V(0.5), extent + 1);
    const V whole = std::floor(inside);
    const int first = static_cast<int>(whole);
    return {wrapped_texel(first, extent), wrapped_texel(first + 1, extent), inside - whole, true, true};
  }
  Tap<V> tap = make_edge_tap(position_px, scale, extent, false);
  if (mirrored) tap = {tap.second, tap.first, V(1) - tap.weight, true, true};
  return tap;
}

template <class V>
SACCADE_TENSOR_FN Tap<V> make_tap(V position_px, V scale, int extent, const AxisRead& read) {
  if (read.is_plain()) return make_edge_tap(position_px, scale, extent, read.padding == Padding::kZeros);
  return make_other_tap(position_px, scale, extent, read);
}

template <class V>
SACCADE_TENSOR_FN V mix(V a, V b, V weight) {
  return a + (b - a) * weight;
}

// A patch, ready to be sampled.
template <class V>
struct PatchFrame {
  Vec2<V> center_px;
  Vec2<V> along, across;  // steps of a sample to the right and down, in units of the pitch
  Vec2<V> probe;          // the probes' line, in units of the pitch
  V pitch_px;             // 2^lod
  V fraction;             // of lod
  int first, second;      // levels that are mixed
  int probes;
};

// Unit vector and ratio of a direction; (1, 0) and 1 where it has no length.
template <class V>
struct Direction {
  Vec2<V> unit;
  V length, ratio;  // as given; clamped
};

template <class V>
SACCADE_TENSOR_FN Direction<V> make_direction(Vec2<V> given, int max_anisotropy) {
  const V length = std::sqrt(given.x * given.x + given.y * given.y);
  if (!(length > V(0))) return {{V(1), V(0)}, V(0), V(1)};
  return {{given.x / length, given.y / length}, length, clamp_to(length, V(1), static_cast<V>(max_anisotropy))};
}

template <class V>
SACCADE_TENSOR_FN PatchFrame<V> make_patch_frame(Vec2<V> center_uv, V lod, int width, int height, int levels) {
  PatchFrame<V> patch;
  patch.center_px = {center_uv.x * static_cast<V>(width), center_uv.y * static_cast<V>(height)};
  const shared::LevelMix<V> mixed = shared::level_mix(lod, levels);
  patch.first = mixed.first;
  patch.second = mixed.second;
  patch.fraction = mixed.fraction;
  patch.pitch_px = exp2_exact(static_cast<V>(mixed.first) + mixed.fraction);
  patch.along = {V(1), V(0)};
  patch.across = {V(0), V(1)};
  patch.probe = {V(0), V(0)};
  patch.probes = 1;
  return patch;
}

template <class V>
SACCADE_TENSOR_FN void set_direction(PatchFrame<V>* patch, const Direction<V>& direction, bool rotate) {
  patch->probe = {direction.unit.x * direction.ratio, direction.unit.y * direction.ratio};
  patch->probes = static_cast<int>(std::ceil(direction.ratio));
  if (!rotate) return;
  patch->along = patch->probe;
  patch->across = {-direction.unit.y, direction.unit.x};
}

// Place of a probe in units of the pitch: before the centre is added.
template <class V>
SACCADE_TENSOR_FN V sample_offset(int index, int size) {
  return static_cast<V>(index) - V(0.5) * static_cast<V>(size - 1);
}
template <class V>
SACCADE_TENSOR_FN V probe_offset(int probe, int probes) {
  return (static_cast<V>(probe) + V(0.5)) / static_cast<V>(probes) - V(0.5);
}

template <class V>
SACCADE_TENSOR_FN Vec2<V> unit_offset(const PatchFrame<V>& patch, int i, int j, int probe, int size) {
  const V a = sample_offset<V>(i, size);
  const V b = sample_offset<V>(j, size);
  Vec2<V> at = {a * patch.along.x + b * patch.across.x, a * patch.along.y + b * patch.across.y};
  if (patch.probes > 1) {
    const V t = probe_offset<V>(probe, patch.probes);
    at.x = at.x + t * patch.probe.x;
    at.y = at.y + t * patch.probe.y;
  }
  return at;
}

template <class V>
SACCADE_TENSOR_FN Vec2<V> sample_place(const PatchFrame<V>& patch, Vec2<V> offset) {
  return {patch.center_px.x + offset.x * patch.pitch_px, patch.center_px.y + offset.y * patch.pitch_px};
}

// The four texels of a bilinear read, as element offsets from a channel's first, and what each counts.
template <class V>
struct Quad {
  std::int64_t at[4];  // top left, top right, bottom left, bottom right
  V wx, wy;
  bool inside[4];
  bool all_inside;
};

template <class V>
SACCADE_TENSOR_FN Quad<V> make_quad(const Vec2<V>& place_px, int level, int width, int height, std::int64_t stride_x,
                                    std::int64_t stride_y, const AxisRead& read_x, const AxisRead& read_y) {
  const V scale = level_scale<V>(level);
  const Tap<V> x = make_tap(place_px.x, scale, width, read_x);
  const Tap<V> y = make_tap(place_px.y, scale, height, read_y);
  Quad<V> quad;
  const std::int64_t top = y.first * stride_y;
  const std::int64_t bottom = y.second * stride_y;
  const std::int64_t left = x.first * stride_x;
  const std::int64_t right = x.second * stride_x;
  quad.at[0] = top + left;
  quad.at[1] = top + right;
  quad.at[2] = bottom + left;
  quad.at[3] = bottom + right;
  quad.wx = x.weight;
  quad.wy = y.weight;
  quad.inside[0] = y.first_inside && x.first_inside;
  quad.inside[1] = y.first_inside && x.second_inside;
  quad.inside[2] = y.second_inside && x.first_inside;
  quad.inside[3] = y.second_inside && x.second_inside;
  quad.all_inside = quad.inside[0] && quad.inside[1] && quad.inside[2] && quad.inside[3];
  return quad;
}

template <class T>
SACCADE_TENSOR_FN void fetch(const T* channel, const Quad<Value<T>>& quad, Value<T>* texels) {
  for (int k = 0; k < 4; ++k) texels[k] = load(channel[quad.at[k]]);
  if (quad.all_inside) return;
  for (int k = 0; k < 4; ++k) {
    if (!quad.inside[k]) texels[k] = Value<T>(0);
  }
}

template <class V>
SACCADE_TENSOR_FN V bilinear(const V* texels, V wx, V wy) {
  return mix(mix(texels[0], texels[1], wx), mix(texels[2], texels[3], wx), wy);
}

}  // namespace saccade::tensor
