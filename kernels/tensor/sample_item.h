// One sample of a patch, forward and backward: the text that the plain loops and the kernels share.
#pragma once

#include <cstdint>

#include "kernels/tensor/sample_args.h"
#include "kernels/tensor/sample_math.h"

namespace saccade::tensor {

template <class V>
SACCADE_TENSOR_FN V number_at(const PatchNumbers& numbers, Dtype dtype, int b, int n, int k) {
  const std::int64_t at = b * numbers.stride_b + n * numbers.stride_n + k;
  return load_as<V>(numbers.data, dtype, at);
}

template <class V>
SACCADE_TENSOR_FN Vec2<V> direction_at(const SampleArgs& args, int b, int n) {
  return {number_at<V>(args.direction, args.coordinates, b, n, 0),
          number_at<V>(args.direction, args.coordinates, b, n, 1)};
}

template <class V>
SACCADE_TENSOR_FN PatchFrame<V> patch_at(const SampleArgs& args, int b, int n) {
  const Vec2<V> center = {number_at<V>(args.centers, args.coordinates, b, n, 0),
                          number_at<V>(args.centers, args.coordinates, b, n, 1)};
  const V lod = number_at<V>(args.lod, args.coordinates, b, n, 0);
  PatchFrame<V> patch = make_patch_frame(center, lod, args.level[0].width, args.level[0].height, args.levels);
  if (args.direction.data != nullptr) {
    set_direction(&patch, make_direction(direction_at<V>(args, b, n), args.max_anisotropy), args.rotate != 0);
  }
  return patch;
}

// What a probe reads: of the finer level, and of the coarser one where the two are mixed.
template <class V>
struct ProbeReads {
  Quad<V> fine, coarse;
};

template <class V>
SACCADE_TENSOR_FN ProbeReads<V> reads_of(const SampleArgs& args, const PatchFrame<V>& patch, Vec2<V> place_px,
                                         bool both) {
  ProbeReads<V> reads;
  const LevelArray& fine = args.level[patch.first];
  reads.fine = make_quad(place_px, patch.first, fine.width, fine.height, fine.stride_x, fine.stride_y, read_x_of(args),
                         read_y_of(args));
  if (both) {
    const LevelArray& coarse = args.level[patch.second];
    reads.coarse = make_quad(place_px, patch.second, coarse.width, coarse.height, coarse.stride_x, coarse.stride_y,
                             read_x_of(args), read_y_of(args));
  }
  return reads;
}

template <class T>
SACCADE_TENSOR_FN const T* channel_of(const LevelArray& level, int b, int c) {
  return static_cast<const T*>(level.data) + b * level.stride_b + c * level.stride_c;
}

template <class T>
SACCADE_TENSOR_FN Value<T> probe_value(const SampleArgs& args, const PatchFrame<Value<T>>& patch,
                                       const ProbeReads<Value<T>>& reads, int b, int c) {
  using V = Value<T>;
  V texels[4];
  fetch(channel_of<T>(args.level[patch.first], b, c), reads.fine, texels);
  const V fine = bilinear(texels, reads.fine.wx, reads.fine.wy);
  if (!(patch.fraction > V(0))) return fine;
  fetch(channel_of<T>(args.level[patch.second], b, c), reads.coarse, texels);
  return mix(fine, bilinear(texels, reads.coarse.wx, reads.coarse.wy), patch.fraction);
}

template <class V>
SACCADE_TENSOR_FN void store_sample(const SampleArgs& args, V value, int b, int n, int c, int i, int j) {
  const PatchArray& out = args.patches;
  const std::int64_t at = b * out.stride_b + n * out.stride_n + c * out.stride_c + j * out.stride_y + i * out.stride_x;
  store_as(value * static_cast<V>(args.scale), out.data, out.dtype, at);
}

// Channels first_channel.. of sample (i, j), kChannels at most.
template <class T, int kChannels>
SACCADE_TENSOR_FN void sample_channels(const SampleArgs& args, const PatchFrame<Value<T>>& patch, int b, int n, int i,
                                       int j, int first_channel) {
  using V = Value<T>;
  V sum[kChannels];
  for (int c = 0; c < kChannels; ++c) sum[c] = V(0);
  for (int probe = 0; probe < patch.probes; ++probe) {
    const Vec2<V> place = sample_place(patch, unit_offset(patch, i, j, probe, args.size));
    const ProbeReads<V> reads = reads_of(args, patch, place, patch.fraction > V(0));
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int c = 0; c < kChannels; ++c) {
      if (first_channel + c >= args.channels) continue;
      const V value = probe_value<T>(args, patch, reads, b, first_channel + c);
      sum[c] = probe == 0 ? value : sum[c] + value;
    }
  }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int c = 0; c < kChannels; ++c) {
    if (first_channel + c >= args.channels) continue;
    const V value = patch.probes > 1 ? sum[c] / static_cast<V>(patch.probes) : sum[c];
    store_sample(args, value, b, n, first_channel + c, i, j);
  }
}

}  // namespace saccade::tensor
