// One Gaussian, ready for many points, for host and device: see gaussian.h.
#pragma once

#include <cmath>

#include "kernels/tensor/gaussian.h"

namespace saccade::tensor {

// Mean and inverse of the lower triangular L, row by row: m00; m10 m11; m20 m21 m22 ...
template <class V, int D>
struct Whitening {
  static constexpr int kTriangle = D * (D + 1) / 2;
  V mean[D];
  V inverse[kTriangle];
};

template <int D>
SACCADE_TENSOR_FN constexpr int triangle_at(int row, int column) {
  return row * (row + 1) / 2 + column;
}

// A pair counts where q is at most this: beyond, exp(-q/2) is 0 and v may be infinite, or be none where infinities met.
template <class V>
SACCADE_TENSOR_FN V farthest_q(double most_q) {
  const V gone = static_cast<V>(sizeof(V) == 4 ? 208 : 1491);
  return most_q < gone ? static_cast<V>(most_q) : gone;
}

// Whether each of these is a number. Pairs with others don't count: so they are looked for, to give results that aren't
// numbers either.
template <class V>
SACCADE_TENSOR_FN bool are_numbers(const V* values, int count) {
  bool all = true;
  for (int i = 0; i < count; ++i) all = all && values[i] == values[i];
  return all;
}
template <class V, int D>
SACCADE_TENSOR_FN bool are_numbers(const Whitening<V, D>& gaussian) {
  return are_numbers(gaussian.mean, D) && are_numbers(gaussian.inverse, Whitening<V, D>::kTriangle);
}

// x within +-kGreatest; not a number stays so. An inverse is kept finite: 0 times infinity would be no number.
template <class V>
SACCADE_TENSOR_FN V bounded(V x) {
  constexpr V kGreatest = static_cast<V>(sizeof(V) == 4 ? 0x1p126 : 0x1p1022);
  const V below = x > kGreatest ? kGreatest : x;
  return below < -kGreatest ? -kGreatest : below;
}

// 1 / x, bounded. On a device floats take no branch, within one unit in the last place: the compiler puts no load of a
// whole Gaussian behind the slow way of a division, each of which would then wait for memory by itself.
template <class V>
SACCADE_TENSOR_FN V reciprocal(V x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(V) == 4) {
    x = bounded(x);
    float guess;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(x));
    guess = bounded(guess);
    return fmaf(guess, fmaf(-x, guess, 1.0f), guess);
  }
#endif
  return bounded(V(1) / x);
}

// Inverse by forward substitution, column by column.
template <class V, int D>
SACCADE_TENSOR_FN Whitening<V, D> make_whitening(const V* mean, const V* scale_tril) {
  Whitening<V, D> out;
  V diagonal[D];
  for (int i = 0; i < D; ++i) {
    out.mean[i] = mean[i];
    diagonal[i] = reciprocal(scale_tril[i * D + i]);
  }
  for (int column = 0; column < D; ++column) {
    for (int row = column; row < D; ++row) {
      V sum = row == column ? V(1) : V(0);
      for (int k = column; k < row; ++k) {
        sum -= bounded(scale_tril[row * D + k] * out.inverse[triangle_at<D>(k, column)]);
      }
      out.inverse[triangle_at<D>(row, column)] = bounded(sum * diagonal[row]);
    }
  }
  return out;
}

// v = L^-1 (x - mean); returns q = |v|^2.
template <class V, int D>
SACCADE_TENSOR_FN V whiten(const Whitening<V, D>& gaussian, const V* x, V* v) {
  V q = V(0);
  for (int row = 0; row < D; ++row) {
    V sum = gaussian.inverse[triangle_at<D>(row, 0)] * (x[0] - gaussian.mean[0]);
    for (int k = 1; k <= row; ++k) sum += gaussian.inverse[triangle_at<D>(row, k)] * (x[k] - gaussian.mean[k]);
    v[row] = sum;
    q += sum * sum;
  }
  return q;
}

// q alone: infinite where infinities met.
template <class V, int D>
SACCADE_TENSOR_FN V squared_distance(const Whitening<V, D>& gaussian, const V* x) {
  V v[D];
  const V q = whiten<V, D>(gaussian, x, v);
  if (q == q) return q;
  return are_numbers(gaussian) && are_numbers(x, D) ? static_cast<V>(INFINITY) : q;
}

// a = L^-T v.
template <class V, int D>
SACCADE_TENSOR_FN void unwhiten(const Whitening<V, D>& gaussian, const V* v, V* a) {
  for (int column = 0; column < D; ++column) {
    V sum = V(0);
    for (int row = column; row < D; ++row) sum += gaussian.inverse[triangle_at<D>(row, column)] * v[row];
    a[column] = sum;
  }
}

// What a Gaussian's gradients come from: the sums over all points of part v, and of part v v^T as its lower triangle,
// with part = gradient * exp(-q/2). The mean's is L^-T sum(part v).
template <class V, int D>
struct Moments {
  static constexpr int kWords = D + Whitening<V, D>::kTriangle;
};

template <class V, int D>
SACCADE_TENSOR_FN void add_moments(V part, const V* v, V* moments) {
  for (int i = 0; i < D; ++i) {
    const V scaled = part * v[i];
    moments[i] += scaled;
    for (int k = 0; k <= i; ++k) moments[D + triangle_at<D>(i, k)] += scaled * v[k];
  }
}

// The gradient of L [D, D]: tril(L^-T sum(part v v^T)).
template <class V, int D>
SACCADE_TENSOR_FN void tril_gradient(const Whitening<V, D>& gaussian, const V* moments, V* out) {
  for (int column = 0; column < D; ++column) {
    V of_column[D];
    V result[D];
    for (int i = 0; i < D; ++i) {
      of_column[i] = moments[D + (i >= column ? triangle_at<D>(i, column) : triangle_at<D>(column, i))];
    }
    unwhiten<V, D>(gaussian, of_column, result);
    for (int i = 0; i < D; ++i) out[i * D + column] = i >= column ? result[i] : V(0);
  }
}

}  // namespace saccade::tensor
