// One sample of a patch, backward: the text that the plain loops and the kernels share.
#pragma once

#include <cstdint>

#include "kernels/tensor/sample.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor {

// What a patch's gradients sum up: of its centre (pixels) and lod, and of the vectors along, across and probe.
template <class V>
struct PatchSums {
  Vec2<V> center, along, across, probe;
  V pitch, fraction;  // d/d pitch, d/d fraction
};

template <class V>
SACCADE_TENSOR_FN void add_slope(PatchSums<V>* sums, const PatchFrame<V>& patch, Vec2<V> slope_px, Vec2<V> offset, V a,
                                 V b, V t) {
  const Vec2<V> scaled = {slope_px.x * patch.pitch_px, slope_px.y * patch.pitch_px};
  sums->center.x += slope_px.x;
  sums->center.y += slope_px.y;
  sums->pitch += slope_px.x * offset.x + slope_px.y * offset.y;
  sums->along.x += scaled.x * a;
  sums->along.y += scaled.y * a;
  sums->across.x += scaled.x * b;
  sums->across.y += scaled.y * b;
  sums->probe.x += scaled.x * t;
  sums->probe.y += scaled.y * t;
}

// d bilinear / d position in level-0 pixels.
template <class V>
SACCADE_TENSOR_FN Vec2<V> slope_of(const V* texels, const Quad<V>& quad, int level) {
  const V scale = level_scale<V>(level);
  return {mix(texels[1] - texels[0], texels[3] - texels[2], quad.wy) * scale,
          mix(texels[2] - texels[0], texels[3] - texels[1], quad.wx) * scale};
}

// Gives each texel of a level its part of `gradient`: texels.add(channel's first element, level, texel, value).
template <class V, class Texels>
SACCADE_TENSOR_FN void spread(const SampleArgs& args, const Texels& texels, int level, const Quad<V>& quad, int b,
                              int c, V gradient) {
  if (!texels.wants(level)) return;
  const LevelArray& array = args.level[level];
  const std::int64_t plane = static_cast<std::int64_t>(array.width) * array.height;
  const std::int64_t channel = (static_cast<std::int64_t>(b) * args.channels + c) * plane;
  const V left = V(1) - quad.wx;
  const V top = V(1) - quad.wy;
  const V weight[4] = {left * top, quad.wx * top, left * quad.wy, quad.wx * quad.wy};
  for (int k = 0; k < 4; ++k) {
    if (quad.inside[k] && weight[k] != V(0)) texels.add(level, channel + quad.at[k], gradient * weight[k]);
  }
}

// Patch gradients in the caller's units. out: centers 2, lod 1, direction 2.
template <class V>
SACCADE_TENSOR_FN void finish_patch(const SampleArgs& args, const PatchFrame<V>& patch, const PatchSums<V>& sums, int b,
                                    int n, V* out) {
  out[0] = sums.center.x * static_cast<V>(args.level[0].width);
  out[1] = sums.center.y * static_cast<V>(args.level[0].height);
  const V lod = number_at<V>(args.lod, args.coordinates, b, n, 0);
  const bool free = lod >= V(0) && lod < static_cast<V>(args.levels - 1);
  out[2] = free ? sums.fraction + sums.pitch * patch.pitch_px * static_cast<V>(kLn2) : V(0);
  out[3] = out[4] = V(0);
  if (args.direction.data == nullptr) return;
  const Direction<V> direction = make_direction(direction_at<V>(args, b, n), args.max_anisotropy);
  if (!(direction.length > V(0))) return;
  // along and the probes' line are ratio * unit, across is (-unit.y, unit.x)
  Vec2<V> line = patch.probes > 1 ? sums.probe : Vec2<V>{V(0), V(0)};
  Vec2<V> unit = {V(0), V(0)};
  if (args.rotate != 0) {
    line = {line.x + sums.along.x, line.y + sums.along.y};
    unit = {sums.across.y, -sums.across.x};
  }
  unit = {unit.x + line.x * direction.ratio, unit.y + line.y * direction.ratio};
  const V radial = unit.x * direction.unit.x + unit.y * direction.unit.y;
  const bool stretches = direction.length >= V(1) && direction.length <= static_cast<V>(args.max_anisotropy);
  const V ratio = stretches ? line.x * direction.unit.x + line.y * direction.unit.y : V(0);
  out[3] = (unit.x - direction.unit.x * radial) / direction.length + direction.unit.x * ratio;
  out[4] = (unit.y - direction.unit.y * radial) / direction.length + direction.unit.y * ratio;
}

// The same reads with the strides of gradients: [B, C, h, w] without gaps.
template <class V>
SACCADE_TENSOR_FN Quad<V> dense_quad(const SampleArgs& args, int level, Vec2<V> place_px) {
  const LevelArray& array = args.level[level];
  return make_quad(place_px, level, array.width, array.height, 1, array.width, read_x_of(args), read_y_of(args));
}

// What one channel of one sample gives the texels that it read.
template <class V, class Texels>
SACCADE_TENSOR_FN void spread_sample(const SampleArgs& args, const Texels& texels, const PatchFrame<V>& patch, int b,
                                     int n, int c, int i, int j) {
  const PatchArray& out = args.patches;
  const std::int64_t at = b * out.stride_b + n * out.stride_n + c * out.stride_c + j * out.stride_y + i * out.stride_x;
  const V gradient = load_as<V>(out.data, out.dtype, at) * (static_cast<V>(args.scale) / static_cast<V>(patch.probes));
  for (int probe = 0; probe < patch.probes; ++probe) {
    const Vec2<V> place = sample_place(patch, unit_offset(patch, i, j, probe, args.size));
    spread(args, texels, patch.first, dense_quad(args, patch.first, place), b, c, gradient * (V(1) - patch.fraction));
    if (!(patch.fraction > V(0))) continue;
    spread(args, texels, patch.second, dense_quad(args, patch.second, place), b, c, gradient * patch.fraction);
  }
}

// Everything that one sample gives back; `sums` gets the patch's part.
template <class T, bool kPlaces, class Texels>
SACCADE_TENSOR_FN void sample_back(const SampleArgs& args, const Texels& texels_out, const PatchFrame<Value<T>>& patch,
                                   int b, int n, int i, int j, PatchSums<Value<T>>* sums) {
  using V = Value<T>;
  const PatchArray& out = args.patches;
  const std::int64_t at = b * out.stride_b + n * out.stride_n + j * out.stride_y + i * out.stride_x;
  const V part = static_cast<V>(args.scale) / static_cast<V>(patch.probes);
  const V offset_a = sample_offset<V>(i, args.size);
  const V offset_b = sample_offset<V>(j, args.size);
  for (int probe = 0; probe < patch.probes; ++probe) {
    const Vec2<V> offset = unit_offset(patch, i, j, probe, args.size);
    const Vec2<V> place = sample_place(patch, offset);
    const Quad<V> fine = dense_quad(args, patch.first, place);
    const Quad<V> coarse = dense_quad(args, patch.second, place);
    ProbeReads<V> reads;
    if constexpr (kPlaces) reads = reads_of(args, patch, place, true);
    Vec2<V> slope = {V(0), V(0)};
    for (int c = 0; c < args.channels; ++c) {
      const V gradient = load_as<V>(out.data, out.dtype, at + c * out.stride_c) * part;
      spread(args, texels_out, patch.first, fine, b, c, gradient * (V(1) - patch.fraction));
      if (patch.fraction > V(0)) {
        spread(args, texels_out, patch.second, coarse, b, c, gradient * patch.fraction);
      }
      if constexpr (kPlaces) {
        V texels[4];
        V coarse_texels[4];
        fetch(channel_of<T>(args.level[patch.first], b, c), reads.fine, texels);
        fetch(channel_of<T>(args.level[patch.second], b, c), reads.coarse, coarse_texels);
        const Vec2<V> fine_slope = slope_of(texels, reads.fine, patch.first);
        const Vec2<V> coarse_slope = slope_of(coarse_texels, reads.coarse, patch.second);
        slope.x += gradient * mix(fine_slope.x, coarse_slope.x, patch.fraction);
        slope.y += gradient * mix(fine_slope.y, coarse_slope.y, patch.fraction);
        sums->fraction += gradient * (bilinear(coarse_texels, reads.coarse.wx, reads.coarse.wy) -
                                      bilinear(texels, reads.fine.wx, reads.fine.wy));
      }
    }
    if constexpr (kPlaces) {
      const V t = patch.probes > 1 ? probe_offset<V>(probe, patch.probes) : V(0);
      add_slope(sums, patch, slope, offset, offset_a, offset_b, t);
    }
  }
}

template <class V>
SACCADE_TENSOR_FN void write_patch(const SampleArgs& args, const SampleGradients& gradients, const PatchFrame<V>& patch,
                                   const PatchSums<V>& sums, int b, int n) {
  V values[5];
  finish_patch(args, patch, sums, b, n, values);
  const std::int64_t at = static_cast<std::int64_t>(b) * args.count + n;
  for (int k = 0; k < 2; ++k) {
    if (gradients.centers != nullptr) store_as(values[k], gradients.centers, args.coordinates, at * 2 + k);
    if (gradients.direction != nullptr) store_as(values[3 + k], gradients.direction, args.coordinates, at * 2 + k);
  }
  if (gradients.lod != nullptr) store_as(values[2], gradients.lod, args.coordinates, at);
}

// Does a patch touch a level of the range?
template <class V>
SACCADE_TENSOR_FN bool touches(const PatchFrame<V>& patch, LevelRange range) {
  return patch.first <= range.last && (patch.fraction > V(0) ? patch.second : patch.first) >= range.first;
}

}  // namespace saccade::tensor
