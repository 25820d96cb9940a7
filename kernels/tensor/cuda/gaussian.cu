// Every pair of a point and a Gaussian, once for the field and its gradient by the points, once for the Gaussians' own.
//
//   block: 32 R owners (a lane has R of them), whose sums stay in registers; its warps share out the others, which pass
//          through shared memory a tile at a time. At the end the warps' sums are added in order.
//   grid:  x owners, y slices of the others (where owners alone are too few for the device), z batch, by several
//   launches
//          where it is longer than a grid.
//
// Slices leave their sums in the workspace; a second kernel adds them in order. So no sum depends on timing.
#include "gpu/cuda/error.h"
#include "kernels/tensor/gaussian_math.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kTile = 128;
constexpr int kTogether = 4;  // channels whose sums are held at once

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

template <class V, int D, int K>
__device__ __forceinline__ void load_gaussians(const GaussianArgs& args, int b, int first, int last, int channel,
                                               SharedGaussian<V, D, K>* tile) {
  for (int t = static_cast<int>(threadIdx.x); t < last - first; t += kThreads) {
    const long long row = static_cast<long long>(b) * args.gaussians + first + t;
    tile[t].whitening = load_whitening<V, D>(args, row);
    load_channels<V, K>(args.weight, row, args.channels, channel, tile[t].weight);
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
  const V most_q = static_cast<V>(args.most_q);
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
        const V e = q > most_q ? V(0) : exp_half(q);
#pragma unroll
        for (int k = 0; k < K; ++k) sums[r][k] += gaussian.weight[k] * e;
      }
    }
  }
  join_warps(sums, [&](int r, const V* words) {
    const int p = first_point + r * 32;
    if (p >= args.points) return;
    const long long row = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.points + p;
    for (int k = 0; k < K && channel + k < args.channels; ++k) out[row * args.channels + channel + k] = words[k];
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
  const V most_q = static_cast<V>(args.most_q);
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
          part *= q > most_q ? V(0) : exp_half(q);
          unwhiten<V, D>(gaussian.whitening, v, a);
#pragma unroll
          for (int i = 0; i < D; ++i) sums[r][i] -= part * a[i];
        }
      }
    }
  }
  join_warps(sums, [&](int r, const V* words) {
    const int p = first_point + r * 32;
    if (p >= args.points) return;
    const long long row = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.points + p;
    for (int i = 0; i < D; ++i) out[row * D + i] = words[i];
  });
}

// ---- The gradient by the Gaussians ----
//
// With part = gradient * e: the sums of part v and of part v v^T over all points give mean and L at the end, by
// a = L^-T v: mean = L^-T sum(part v), L = tril(L^-T sum(part v v^T)).

template <int D, int K>
struct GaussianSums {
  static constexpr int kTriangle = D * (D + 1) / 2;
  static constexpr int kWeight = D + kTriangle;
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
  const V most_q = static_cast<V>(args.most_q);
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
      const V e = q > most_q ? V(0) : exp_half(q);
      V part = V(0);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        part += point.incoming[k] * weight[k];
        sums[0][Sums::kWeight + k] += point.incoming[k] * e;
      }
      part *= e;
#pragma unroll
      for (int i = 0; i < D; ++i) {
        const V scaled = part * v[i];
        sums[0][i] += scaled;
#pragma unroll
        for (int k = 0; k <= i; ++k) sums[0][D + triangle_at<D>(i, k)] += scaled * v[k];
      }
    }
  }
  join_warps(sums, [&](int, const V* words) {
    if (mine >= args.gaussians) return;
    const long long at = (static_cast<long long>(blockIdx.y) * args.batch + b) * args.gaussians + mine;
    for (int w = 0; w < Sums::kWords; ++w) out[at * Sums::kWords + w] = words[w];
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
  if (gradients.mean != nullptr) {
    V mean[D];
    unwhiten<V, D>(whitening, sums, mean);
    V* out = static_cast<V*>(gradients.mean) + row * D;
    for (int i = 0; i < D; ++i) out[i] = add ? out[i] + mean[i] : mean[i];
  }
  if (gradients.scale_tril != nullptr) {
    V* out = static_cast<V*>(gradients.scale_tril) + row * D * D;
    for (int column = 0; column < D; ++column) {
      V moments[D];
      V result[D];
      for (int i = 0; i < D; ++i) {
        moments[i] = sums[D + (i >= column ? triangle_at<D>(i, column) : triangle_at<D>(column, i))];
      }
      unwhiten<V, D>(whitening, moments, result);
      for (int i = 0; i < D; ++i) {
        const V value = i >= column ? result[i] : V(0);
        out[i * D + column] = add ? out[i * D + column] + value : value;
      }
    }
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
    V v[D];
    static_cast<V*>(args.out)[row * args.gaussians + g] =
        whiten<V, D>(whitening, static_cast<const V*>(args.x) + row * D, v);
  }
}

// ---- Launches ----

int blocks_of(int count, int at_once) { return count / at_once + (count % at_once != 0 ? 1 : 0); }

constexpr int kMostDeep = 65535;  // blocks of a grid along z

// launch(grid, first of the batch) for each part of the batch that a grid can take.
template <class Launch>
void for_batch(const GaussianArgs& args, int across, int slices, const Launch& launch) {
  for (int first = 0; first < args.batch; first += kMostDeep) {
    const int deep = args.batch - first < kMostDeep ? args.batch - first : kMostDeep;
    launch(dim3(static_cast<unsigned>(across), static_cast<unsigned>(slices), static_cast<unsigned>(deep)), first);
  }
}

// Slices so that the grid has about 1024 blocks, each with a tile at least.
int slices_of(int owners, int batch, int others) {
  const long long blocks = static_cast<long long>(owners) * batch;
  const int wanted = blocks >= 512 ? 1 : 1024 / static_cast<int>(blocks > 0 ? blocks : 1);
  const int most = blocks_of(others, kTile);
  return wanted < 1 ? 1 : wanted < most ? wanted : most < 1 ? 1 : most;
}

constexpr int kManyPoints = 32768;  // from here on a lane has four points, where they are floats
template <class V>
constexpr bool kManyTogether = sizeof(V) == 4;

int points_at_once(const GaussianArgs& args) {
  return static_cast<long long>(args.points) * args.batch >= kManyPoints && args.dtype == Dtype::kF32 ? 128 : 32;
}

int point_slices(const GaussianArgs& args) {
  return slices_of(blocks_of(args.points, points_at_once(args)), args.batch, args.gaussians);
}
int gaussian_slices(const GaussianArgs& args) {
  return slices_of(blocks_of(args.gaussians, 32), args.batch, args.points);
}

template <class V, int D, int K>
void run_field(const GaussianArgs& args, void* workspace, cudaStream_t stream) {
  const int slices = point_slices(args);
  const int at_once = points_at_once(args);
  V* out = static_cast<V*>(slices > 1 ? workspace : args.out);
  for (int channel = 0; channel < args.channels; channel += K) {
    for_batch(args, blocks_of(args.points, at_once), slices, [&](dim3 grid, int first) {
      if (at_once == 32) {
        field_kernel<V, D, K, 1><<<grid, kThreads, 0, stream>>>(args, first, channel, out);
      } else if constexpr (kManyTogether<V>) {
        field_kernel<V, D, K, 4><<<grid, kThreads, 0, stream>>>(args, first, channel, out);
      }
    });
  }
  if (slices > 1) {
    const long long count = static_cast<long long>(args.batch) * args.points * args.channels;
    add_slices_kernel<V>
        <<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(out, count, slices, static_cast<V*>(args.out));
  }
}

template <class V, int D, int K>
void run_points_back(const GaussianArgs& args, const GaussianGradients& gradients, void* workspace,
                     cudaStream_t stream) {
  const int slices = point_slices(args);
  const int at_once = points_at_once(args);
  V* out = static_cast<V*>(slices > 1 ? workspace : gradients.x);
  for_batch(args, blocks_of(args.points, at_once), slices, [&](dim3 grid, int first) {
    if (at_once == 32) {
      points_back_kernel<V, D, K, 1><<<grid, kThreads, 0, stream>>>(args, first, gradients.out, out);
    } else if constexpr (kManyTogether<V>) {
      points_back_kernel<V, D, K, 4><<<grid, kThreads, 0, stream>>>(args, first, gradients.out, out);
    }
  });
  if (slices > 1) {
    const long long count = static_cast<long long>(args.batch) * args.points * D;
    add_slices_kernel<V><<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(out, count, slices,
                                                                                         static_cast<V*>(gradients.x));
  }
}

template <class V, int D, int K>
void run_back(const GaussianArgs& args, const GaussianGradients& gradients, void* workspace, cudaStream_t stream) {
  if (gradients.x != nullptr) run_points_back<V, D, K>(args, gradients, workspace, stream);
  if (gradients.mean == nullptr && gradients.scale_tril == nullptr && gradients.weight == nullptr) return;
  const int slices = gaussian_slices(args);
  const auto finish = static_cast<unsigned>((static_cast<long long>(args.batch) * args.gaussians + 127) / 128);
  // once without channels, too: mean and L then get zeros
  for (int channel = 0; channel == 0 || channel < args.channels; channel += K) {
    for_batch(args, blocks_of(args.gaussians, 32), slices, [&](dim3 grid, int first) {
      gaussians_back_kernel<V, D, K>
          <<<grid, kThreads, 0, stream>>>(args, first, gradients.out, channel, static_cast<V*>(workspace));
    });
    finish_gaussians_kernel<V, D, K>
        <<<finish, 128, 0, stream>>>(args, gradients, channel, static_cast<const V*>(workspace), slices);
  }
}

// call<V, D, K>().
template <class Call>
void dispatch(const GaussianArgs& args, const Call& call) {
  const auto by_channels = [&]<class V, int D>() {
    if constexpr (sizeof(V) == 4) {
      if (args.channels == 1) return call.template operator()<V, D, 1>();
    }
    call.template operator()<V, D, kTogether>();
  };
  const auto by_dimensions = [&]<class V>() {
    switch (args.dimensions) {
      case 1:
        return by_channels.template operator()<V, 1>();
      case 2:
        return by_channels.template operator()<V, 2>();
      case 3:
        return by_channels.template operator()<V, 3>();
      case 4:
        return by_channels.template operator()<V, 4>();
      default:
        return;
    }
  };
  args.dtype == Dtype::kF64 ? by_dimensions.template operator()<double>() : by_dimensions.template operator()<float>();
}

bool is_empty(const GaussianArgs& args) { return args.batch == 0 || args.points == 0 || args.gaussians == 0; }

}  // namespace

std::size_t gaussian_workspace_bytes(const GaussianArgs& args) {
  if (is_empty(args)) return 0;
  const std::size_t element = element_bytes(args.dtype);
  const int k = args.channels == 1 && args.dtype == Dtype::kF32 ? 1 : kTogether;
  const int d = args.dimensions;
  const auto product = [](long long a, long long b, long long c) { return static_cast<std::size_t>(a * b * c); };
  const std::size_t field = point_slices(args) > 1
                                ? product(point_slices(args), static_cast<long long>(args.batch) * args.points,
                                          args.channels > d ? args.channels : d)
                                : 0;
  const std::size_t back =
      product(gaussian_slices(args), static_cast<long long>(args.batch) * args.gaussians, d + d * (d + 1) / 2 + k);
  return element * (field > back ? field : back);
}

void gaussian_field(const GaussianArgs& args, void* workspace, void* stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  if (is_empty(args) || args.channels == 0) return;
  dispatch(args, [&]<class V, int D, int K>() { run_field<V, D, K>(args, workspace, stream); });
  cuda_check_launch("gaussian_field", stream);
}

void gaussian_field_backward(const GaussianArgs& args, const GaussianGradients& gradients, void* workspace,
                             void* stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  if (is_empty(args)) return;
  dispatch(args, [&]<class V, int D, int K>() { run_back<V, D, K>(args, gradients, workspace, stream); });
  cuda_check_launch("gaussian_field_backward", stream);
}

void mahalanobis(const GaussianArgs& args, void* stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  if (is_empty(args)) return;
  const int rows = blocks_of(args.points, 8);
  dispatch(args, [&]<class V, int D, int K>() {
    static_cast<void>(K);
    for_batch(args, blocks_of(args.gaussians, 32), rows < 4096 ? rows : 4096,
              [&](dim3 grid, int first) { distances_kernel<V, D><<<grid, dim3(32, 8), 0, stream>>>(args, first); });
  });
  cuda_check_launch("mahalanobis", stream);
}

}  // namespace saccade::tensor::cuda
