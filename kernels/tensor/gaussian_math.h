// One Gaussian, ready for many points, for host and device: see gaussian.h.
#pragma once

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

// 1 / x. On a device floats take no branch, within one unit in the last place: the compiler puts no load of a whole
// Gaussian behind the slow way of a division, each of which would then wait for memory by itself.
template <class V>
SACCADE_TENSOR_FN V reciprocal(V x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(V) == 4) {
    float guess;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(x));
    return fmaf(guess, fmaf(-x, guess, 1.0f), guess);
  }
#endif
  return V(1) / x;
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
      for (int k = column; k < row; ++k) sum -= scale_tril[row * D + k] * out.inverse[triangle_at<D>(k, column)];
      out.inverse[triangle_at<D>(row, column)] = sum * diagonal[row];
    }
  }
  return out;
}

// v = L^-1 (x - mean); returns |v|^2.
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

// a = L^-T v.
template <class V, int D>
SACCADE_TENSOR_FN void unwhiten(const Whitening<V, D>& gaussian, const V* v, V* a) {
  for (int column = 0; column < D; ++column) {
    V sum = V(0);
    for (int row = column; row < D; ++row) sum += gaussian.inverse[triangle_at<D>(row, column)] * v[row];
    a[column] = sum;
  }
}

}  // namespace saccade::tensor
