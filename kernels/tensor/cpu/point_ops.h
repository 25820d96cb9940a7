// Single points, a block of them at once: the vector work of their samples and gradients as a table of functions for
// each type of numbers. simd_point_ops() gives the bits of plain_point_ops(), which reads like the definition. No
// operation allocates or throws; all work on whole blocks.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "kernels/tensor/sample_math.h"

namespace saccade::tensor::cpu {

inline constexpr int kPoints = 128;                // in a block
inline constexpr int kMostTexelsOfAxis = 1 << 24;  // floats tell so many apart

// A level that is read, or written: offsets are elements.
template <class V>
struct PointGrid {
  V scale;  // 2^-level
  std::int32_t width, height, stride_x, stride_y;
  AxisRead read_x, read_y;

  bool zeros() const { return read_x.padding == Padding::kZeros; }
};

// Quads of sample_math.h: offsets of the four texels, weights, and all bits of a texel that counts.
template <class V>
struct PointTaps {
  using Bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
  std::int32_t at[4][kPoints];
  V wx[kPoints], wy[kPoints];
  Bits inside[4][kPoints];  // written with `zeros` alone
};

// The texels that the taps name.
template <class V>
struct PointTexels {
  V at[4][kPoints];
};

template <class V>
struct PointSlopes {
  V x[kPoints], y[kPoints];
};

template <class V>
struct PointOps {
  // Of places in level-0 pixels.
  void (*taps)(const V* x_px, const V* y_px, const PointGrid<V>& grid, PointTaps<V>* taps);
  // Texels that do not count become 0; only of grids with `zeros`.
  void (*clear_outside)(const PointTaps<V>& taps, PointTexels<V>* texels);
  // The bilinear values.
  void (*blend)(const PointTexels<V>& texels, const PointTaps<V>& taps, V* values);
  // What each texel counts; 0 outside. Returns whether none is 0.
  bool (*weights)(const PointTaps<V>& taps, bool zeros, PointTexels<V>* weights);
  // d value / d place in texels.
  void (*slopes)(const PointTexels<V>& texels, const PointTaps<V>& taps, PointSlopes<V>* slopes);
};

using AllPointOps = std::tuple<PointOps<float>, PointOps<double>>;

namespace plain {

template <class V>
void point_taps(const V* x_px, const V* y_px, const PointGrid<V>& grid, PointTaps<V>* taps) {
  for (int i = 0; i < kPoints; ++i) {
    const Tap<V> x = make_tap(x_px[i], grid.scale, grid.width, grid.read_x);
    const Tap<V> y = make_tap(y_px[i], grid.scale, grid.height, grid.read_y);
    for (int k = 0; k < 4; ++k) {
      taps->at[k][i] = (k < 2 ? y.first : y.second) * grid.stride_y + (k % 2 == 0 ? x.first : x.second) * grid.stride_x;
      const bool counts = (k < 2 ? y.first_inside : y.second_inside) && (k % 2 == 0 ? x.first_inside : x.second_inside);
      if (grid.zeros()) taps->inside[k][i] = counts ? static_cast<typename PointTaps<V>::Bits>(-1) : 0;
    }
    taps->wx[i] = x.weight;
    taps->wy[i] = y.weight;
  }
}

template <class V>
void clear_outside(const PointTaps<V>& taps, PointTexels<V>* texels) {
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < kPoints; ++i) texels->at[k][i] = taps.inside[k][i] != 0 ? texels->at[k][i] : V(0);
  }
}

template <class V>
void blend(const PointTexels<V>& texels, const PointTaps<V>& taps, V* values) {
  const auto& t = texels.at;
  for (int i = 0; i < kPoints; ++i) {
    values[i] = mix(mix(t[0][i], t[1][i], taps.wx[i]), mix(t[2][i], t[3][i], taps.wx[i]), taps.wy[i]);
  }
}

template <class V>
bool weights(const PointTaps<V>& taps, bool zeros, PointTexels<V>* weights) {
  bool all_count = true;
  for (int i = 0; i < kPoints; ++i) {
    const V left = V(1) - taps.wx[i];
    const V top = V(1) - taps.wy[i];
    const V all[4] = {left * top, taps.wx[i] * top, left * taps.wy[i], taps.wx[i] * taps.wy[i]};
    for (int k = 0; k < 4; ++k) {
      weights->at[k][i] = zeros && taps.inside[k][i] == 0 ? V(0) : all[k];
      all_count = all_count && weights->at[k][i] != V(0);
    }
  }
  return all_count;
}

template <class V>
void slopes(const PointTexels<V>& texels, const PointTaps<V>& taps, PointSlopes<V>* slopes) {
  const auto& t = texels.at;
  for (int i = 0; i < kPoints; ++i) {
    slopes->x[i] = mix(t[1][i] - t[0][i], t[3][i] - t[2][i], taps.wy[i]);
    slopes->y[i] = mix(t[2][i] - t[0][i], t[3][i] - t[1][i], taps.wx[i]);
  }
}

}  // namespace plain

template <class V>
PointOps<V> plain_point_ops() {
  return {plain::point_taps<V>, plain::clear_outside<V>, plain::blend<V>, plain::weights<V>, plain::slopes<V>};
}

// For the best instruction set of this machine (or of hwy::SetSupportedTargetsForTest, read at each call).
AllPointOps simd_point_ops();

}  // namespace saccade::tensor::cpu
