// Every pair of a point and a Gaussian, once for the field and its gradient by the points, once for the Gaussians' own.
//
//   block: 32 R owners (a lane has R of them), whose sums stay in registers; its warps share out the others, which pass
//          through shared memory a tile at a time. At the end the warps' sums are added in order.
//   grid:  x owners, y slices of the others (where owners alone are too few for the device), z batch, from first_batch.
//
// Slices leave their sums in the workspace; a second kernel adds them in order. So no sum depends on timing.
#pragma once

#include "kernels/tensor/gaussian_math.h"

namespace saccade::tensor::cuda::gaussian {

inline constexpr int kWarps = 8;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kTile = 128;
inline constexpr int kTogether = 4;  // channels whose sums are held at once

__device__ __forceinline__ float exp_half(float q) {  // exp(-q/2)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(q * -0.72134752f));
  return result;
}
__device__ __forceinline__ double exp_half(double q) { return exp(-0.5 * q); }

// One owner's or other's numbers in shared memory.
template <class V, int D, int K>
struct alignas(sizeof(V) == 4 ? 16 : 8) SharedGaussian {
  Whitening<V, D> whitening;
  V weight[K];
};
template <class V, int D, int K>
struct alignas(sizeof(V) == 4 ? 16 : 8) SharedPoint {
  V x[D];
  V incoming[K];
};

struct Slice {
  int first, last;
};

__device__ __forceinline__ Slice slice_of(int count) {
  const int length =
      ((count + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y) + kTile - 1) / kTile * kTile;
  const int first = min(static_cast<int>(blockIdx.y) * length, count);
  return {first, min(first + length, count)};
}

template <class V, int D>
__device__ __forceinline__ Whitening<V, D> load_whitening(const GaussianArgs& args, long long row) {
  V mean[D];
  V tril[D * D];
#pragma unroll
  for (int i = 0; i < D; ++i) mean[i] = static_cast<const V*>(args.mean)[row * D + i];
#pragma unroll
  for (int i = 0; i < D * D; ++i) tril[i] = static_cast<const V*>(args.scale_tril)[row * D * D + i];
  return make_whitening<V, D>(mean, tril);
}

template <class V, int K>
__device__ __forceinline__ void load_channels(const void* from, long long row, int channels, int first, V* out) {
#pragma unroll
  for (int k = 0; k < K; ++k) {
    out[k] = first + k < channels ? static_cast<const V*>(from)[row * channels + first + k] : V(0);
  }
}

// 0, or what makes a sum no number.
template <class V>
__device__ __forceinline__ V nothing(bool are_numbers) {
  return are_numbers ? V(0) : static_cast<V>(nanf(""));
}

template <class V, int D, int K>
__device__ __forceinline__ void load_gaussians(const GaussianArgs& args, int b, int first, int last, int channel,
                                               SharedGaussian<V, D, K>* tile) {
  for (int t = static_cast<int>(threadIdx.x); t < last - first; t += kThreads) {
    const long long row = static_cast<long long>(b) * args.gaussians + first + t;
    tile[t].whitening = load_whitening<V, D>(args, row);
    load_channels<V, K>(args.weight, row, args.channels, channel, tile[t].weight);
    // all points notice one that isn't a number, though it counts for none
    const V none = nothing<V>(are_numbers(tile[t].whitening));
#pragma unroll
    for (int k = 0; k < K; ++k) tile[t].weight[k] += none;
  }
}

// A lane's R points, 32 apart; what lies beyond the last one is the last one again.
template <class V, int D, int R>
__device__ __forceinline__ void load_points(const GaussianArgs& args, int b, int first_point, V (&x)[R][D]) {
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int p = min(first_point + r * 32, args.points - 1);
#pragma unroll
    for (int i = 0; i < D; ++i)
      x[r][i] = static_cast<const V*>(args.x)[(static_cast<long long>(b) * args.points + p) * D + i];
  }
}

// Adds the warps' sums in order; then calls write(r, words) in the first warp for each of a lane's R owners.
template <class V, int R, int kWords, class Write>
__device__ __forceinline__ void join_warps(V (&sums)[R][kWords], const Write& write) {
  __shared__ V others[kWarps][32];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      __syncthreads();
      others[warp][lane] = sums[r][w];
      __syncthreads();
      if (warp == 0) {
        for (int k = 1; k < kWarps; ++k) sums[r][w] += others[k][lane];
      }
    }
    if (warp == 0) write(r, sums[r]);
  }
}

// ---- The field ----

template <class V, int D, int K, int R>
__global__ void __launch_bounds__(kThreads)
    field_kernel(const __grid_constant__ GaussianArgs args, int first_batch, int channel, V* out) {
  __shared__ SharedGaussian<V, D, K> tile[kTile];
  const int b = first_batch + static_cast<int>(blockIdx.z);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_point = static_cast<int>(blockIdx.x) * 32 * R + static_cast<int>(threadIdx.x) % 32;
  V x[R][D];
  V sums[R][K] = {};
  load_points<V, D, R>(args, b, first_point, x);
  const Slice slice = slice_of(args.gaussians);
  const V most_q = farthest_q<V>(args.most_q);
  for (int first = slice.first; first < slice.last; first += kTile) {
    const int last = min(first + kTile, slice.last);
    __syncthreads();
    load_gaussians<V, D, K>(args, b, first, last, channel, tile);
    __syncthreads();
    for (int t = warp; t < last - first; t += kWarps) {
      const SharedGaussian<V, D, K> gaussian = tile[t];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        V v[D];
        const V q = whiten<V, D>(gaussian.whitening, x[r], v);
        const V e = q <= most_q ? exp_half(q) : V(0);
#pragma unroll
        for (int k = 0; k < K; ++k) sums[r][k] += gaussian.weight[k] * e;
      }
    }
  }
  join_warps(sums, [&](int r, const V* words) {
    const int p = first_point + r * 32;
    if (p >= args.points) return;
    const long long row = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.points + p;
    const V none = nothing<V>(are_numbers(x[r], D));
    for (int k = 0; k < K && channel + k < args.channels; ++k) out[row * args.channels + channel + k] = words[k] + none;
  });
}

// ---- The gradient by the points ----

template <class V, int D, int K, int R>
__global__ void __launch_bounds__(kThreads)
    points_back_kernel(const __grid_constant__ GaussianArgs args, int first_batch, const void* incoming, V* out) {
  __shared__ SharedGaussian<V, D, K> tile[kTile];
  const int b = first_batch + static_cast<int>(blockIdx.z);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int first_point = static_cast<int>(blockIdx.x) * 32 * R + static_cast<int>(threadIdx.x) % 32;
  V x[R][D];
  V sums[R][D] = {};
  load_points<V, D, R>(args, b, first_point, x);
  const Slice slice = slice_of(args.gaussians);
  const V most_q = farthest_q<V>(args.most_q);
  for (int channel = 0; channel < args.channels; channel += K) {
    V gradient[R][K];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int p = min(first_point + r * 32, args.points - 1);
      load_channels<V, K>(incoming, static_cast<long long>(b) * args.points + p, args.channels, channel, gradient[r]);
    }
    for (int first = slice.first; first < slice.last; first += kTile) {
      const int last = min(first + kTile, slice.last);
      __syncthreads();
      load_gaussians<V, D, K>(args, b, first, last, channel, tile);
      __syncthreads();
      for (int t = warp; t < last - first; t += kWarps) {
        const SharedGaussian<V, D, K> gaussian = tile[t];
#pragma unroll
        for (int r = 0; r < R; ++r) {
          V v[D];
          V a[D];
          const V q = whiten<V, D>(gaussian.whitening, x[r], v);
          V part = V(0);
#pragma unroll
          for (int k = 0; k < K; ++k) part += gradient[r][k] * gaussian.weight[k];
          const bool counts = q <= most_q;
          part *= counts ? exp_half(q) : V(0);
          unwhiten<V, D>(gaussian.whitening, v, a);
#pragma unroll
          for (int i = 0; i < D; ++i) sums[r][i] -= part * (counts ? a[i] : V(0));
        }
      }
    }
  }
  join_warps(sums, [&](int r, const V* words) {
    const int p = first_point + r * 32;
    if (p >= args.points) return;
    const long long row = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.points + p;
    const V none = nothing<V>(are_numbers(x[r], D));
    for (int i = 0; i < D; ++i) out[row * D + i] = words[i] + none;
  });
}

// ---- The gradient by the Gaussians ----
//
// Moments and gradients of the weights, as gaussian_math.h has them.

template <int D, int K>
struct GaussianSums {
  static constexpr int kWeight = Moments<float, D>::kWords;
  static constexpr int kWords = kWeight + K;
};

template <class V, int D, int K>
__global__ void __launch_bounds__(kThreads)
    gaussians_back_kernel(const __grid_constant__ GaussianArgs args, int first_batch, const void* incoming, int channel,
                          V* out) {
  using Sums = GaussianSums<D, K>;
  __shared__ SharedPoint<V, D, K> tile[kTile];
  const int b = first_batch + static_cast<int>(blockIdx.z);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int mine = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x) % 32;
  const long long row = static_cast<long long>(b) * args.gaussians + min(mine, args.gaussians - 1);
  const Whitening<V, D> whitening = load_whitening<V, D>(args, row);
  V weight[K];
  load_channels<V, K>(args.weight, row, args.channels, channel, weight);
  V sums[1][Sums::kWords] = {};
  const Slice slice = slice_of(args.points);
  const V most_q = farthest_q<V>(args.most_q);
  for (int first = slice.first; first < slice.last; first += kTile) {
    const int last = min(first + kTile, slice.last);
    __syncthreads();
    for (int t = static_cast<int>(threadIdx.x); t < last - first; t += kThreads) {
      const long long point = static_cast<long long>(b) * args.points + first + t;
#pragma unroll
      for (int i = 0; i < D; ++i) tile[t].x[i] = static_cast<const V*>(args.x)[point * D + i];
      load_channels<V, K>(incoming, point, args.channels, channel, tile[t].incoming);
    }
    __syncthreads();
#pragma unroll 2
    for (int t = warp; t < last - first; t += kWarps) {
      const SharedPoint<V, D, K> point = tile[t];
      V v[D];
      const V q = whiten<V, D>(whitening, point.x, v);
      const bool counts = q <= most_q;
      const V e = counts ? exp_half(q) : V(0);
      V part = V(0);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        part += point.incoming[k] * weight[k];
        sums[0][Sums::kWeight + k] += point.incoming[k] * e;
      }
#pragma unroll
      for (int i = 0; i < D; ++i) v[i] = counts ? v[i] : V(0);
      add_moments<V, D>(part * e, v, sums[0]);
    }
  }
  join_warps(sums, [&](int, const V* words) {
    if (mine >= args.gaussians) return;
    const long long at = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.gaussians + mine;
    const V none = nothing<V>(are_numbers(whitening));
    for (int w = 0; w < Sums::kWords; ++w) out[at * Sums::kWords + w] = words[w] + none;
  });
}

// Adds the slices in order and gives the sums their units. A thread a Gaussian. `add`: to an earlier group of channels.
template <class V, int D, int K>
__global__ void finish_gaussians_kernel(const __grid_constant__ GaussianArgs args,
                                        const __grid_constant__ GaussianGradients gradients, int channel,
                                        const V* partial, int slices) {
  using Sums = GaussianSums<D, K>;
  const long long total = static_cast<long long>(args.batch) * args.gaussians;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= total) return;
  V sums[Sums::kWords] = {};
  for (int s = 0; s < slices; ++s) {
#pragma unroll
    for (int w = 0; w < Sums::kWords; ++w) sums[w] += partial[(s * total + row) * Sums::kWords + w];
  }
  const Whitening<V, D> whitening = load_whitening<V, D>(args, row);
  const bool add = channel > 0;
  const auto store = [&](void* to, const V* values, int count) {
    V* out = static_cast<V*>(to) + row * count;
    for (int i = 0; i < count; ++i) out[i] = add ? out[i] + values[i] : values[i];
  };
  if (gradients.mean != nullptr) {
    V mean[D];
    unwhiten<V, D>(whitening, sums, mean);
    store(gradients.mean, mean, D);
  }
  if (gradients.scale_tril != nullptr) {
    V tril[D * D];
    tril_gradient<V, D>(whitening, sums, tril);
    store(gradients.scale_tril, tril, D * D);
  }
  if (gradients.weight != nullptr) {
    for (int k = 0; k < K && channel + k < args.channels; ++k) {
      static_cast<V*>(gradients.weight)[row * args.channels + channel + k] = sums[Sums::kWeight + k];
    }
  }
}

template <class V>
__global__ void add_slices_kernel(const V* partial, long long count, int slices, V* out) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= count) return;
  V sum = partial[at];
  for (int s = 1; s < slices; ++s) sum += partial[s * count + at];
  out[at] = sum;
}

template <class V, int D>
__global__ void distances_kernel(const __grid_constant__ GaussianArgs args, int first_batch) {
  const int g = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  const int b = first_batch + static_cast<int>(blockIdx.z);
  if (g >= args.gaussians) return;
  const Whitening<V, D> whitening = load_whitening<V, D>(args, static_cast<long long>(b) * args.gaussians + g);
  for (int p = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); p < args.points;
       p += static_cast<int>(gridDim.y * blockDim.y)) {
    const long long row = static_cast<long long>(b) * args.points + p;
    static_cast<V*>(args.out)[row * args.gaussians + g] =
        squared_distance<V, D>(whitening, static_cast<const V*>(args.x) + row * D);
  }
}

}  // namespace saccade::tensor::cuda::gaussian
