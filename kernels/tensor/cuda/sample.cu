// A block samples a patch, its threads the samples: by taps shared along rows and columns where the patch's axes are
// the image's. For single points a thread samples a point.
#include "gpu/cuda/error.h"
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cuda/grid_taps.cuh"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTogether = 4;  // channels whose texels are read at once

template <class T, bool kMixed>
__device__ __forceinline__ void grid_sample(const SampleArgs& args, const GridTaps<Value<T>>& taps, int b, int n, int i,
                                            int j, int first, int last) {
  using V = Value<T>;
  const PatchFrame<V>& patch = taps.patch;
  const LevelArray& fine = args.level[patch.first];
  const LevelArray& coarse = args.level[patch.second];
  const AxisTap<V> x0 = taps.x[0][i];
  const AxisTap<V> y0 = taps.y[0][j];
  const AxisTap<V> x1 = taps.x[1][i];
  const AxisTap<V> y1 = taps.y[1][j];
  const T* fine_channel = channel_of<T>(fine, b, first);
  const T* coarse_channel = channel_of<T>(coarse, b, first);
  const PatchArray& out = args.patches;
  std::int64_t at = b * out.stride_b + n * out.stride_n + first * out.stride_c + j * out.stride_y + i * out.stride_x;
  for (int c = first; c < last; c += kTogether) {
    V values[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (c + k >= last) continue;
      V texels[4];
      grid_fetch(fine_channel + k * fine.stride_c, x0, y0, texels);
      values[k] = bilinear(texels, x0.weight, y0.weight);
      if constexpr (kMixed) {
        grid_fetch(coarse_channel + k * coarse.stride_c, x1, y1, texels);
        values[k] = mix(values[k], bilinear(texels, x1.weight, y1.weight), patch.fraction);
      }
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (c + k >= last) continue;
      store_as(values[k] * static_cast<V>(args.scale), out.data, out.dtype, at + k * out.stride_c);
    }
    fine_channel += kTogether * fine.stride_c;
    coarse_channel += kTogether * coarse.stride_c;
    at += kTogether * out.stride_c;
  }
}

// blockIdx.x: (b, n); blockIdx.y: a share of the channels.
template <class T>
__global__ void __launch_bounds__(kGridThreads) sample_grid_kernel(const __grid_constant__ SampleArgs args, int share) {
  __shared__ GridTaps<Value<T>> taps;
  const int b = static_cast<int>(blockIdx.x) / args.count;
  const int n = static_cast<int>(blockIdx.x) % args.count;
  const int first = static_cast<int>(blockIdx.y) * share;
  const int last = min(first + share, args.channels);
  make_grid_taps<Value<T>, false>(args, b, n, &taps);
  const bool mixed = taps.patch.fraction > Value<T>(0);
  for (int s = static_cast<int>(threadIdx.x); s < args.size * args.size; s += kGridThreads) {
    if (mixed) {
      grid_sample<T, true>(args, taps, b, n, s % args.size, s / args.size, first, last);
    } else {
      grid_sample<T, false>(args, taps, b, n, s % args.size, s / args.size, first, last);
    }
  }
}

// blockIdx.x: (b, n), patches of a batch side by side; blockIdx.y: a share of the channels.
template <class T>
__global__ void __launch_bounds__(kThreads) sample_patches_kernel(const __grid_constant__ SampleArgs args, int share) {
  const int b = static_cast<int>(blockIdx.x) / args.count;
  const int n = static_cast<int>(blockIdx.x) % args.count;
  const int first = static_cast<int>(blockIdx.y) * share;
  const int last = min(first + share, args.channels);
  const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, b, n);
  for (int s = static_cast<int>(threadIdx.x); s < args.size * args.size; s += kThreads) {
    for (int c = first; c < last; c += kTogether) {
      sample_channels<T, kTogether>(args, patch, b, n, s % args.size, s / args.size, c);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) sample_points_kernel(const __grid_constant__ SampleArgs args, int share) {
  const long long point = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (point >= static_cast<long long>(args.batch) * args.count) return;
  const int b = static_cast<int>(point / args.count);
  const int n = static_cast<int>(point % args.count);
  const int first = static_cast<int>(blockIdx.y) * share;
  const int last = min(first + share, args.channels);
  const PatchFrame<Value<T>> patch = patch_at<Value<T>>(args, b, n);
  for (int c = first; c < last; c += kTogether) sample_channels<T, kTogether>(args, patch, b, n, 0, 0, c);
}

template <class T>
void launch(const SampleArgs& args, cudaStream_t stream) {
  const long long patches = static_cast<long long>(args.batch) * args.count;
  const bool points = args.size == 1;
  const long long blocks = points ? (patches + kThreads - 1) / kThreads : patches;
  // enough blocks for the device; a share is a multiple of kTogether
  int share = args.channels;
  while (share > kTogether && blocks * ((args.channels + share - 1) / share) < 1024) share = (share + 1) / 2;
  share = (share + kTogether - 1) / kTogether * kTogether;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>((args.channels + share - 1) / share));
  if (points) {
    sample_points_kernel<T><<<grid, kThreads, 0, stream>>>(args, share);
  } else if (takes_grid(args)) {
    sample_grid_kernel<T><<<grid, kGridThreads, 0, stream>>>(args, share);
  } else {
    sample_patches_kernel<T><<<grid, kThreads, 0, stream>>>(args, share);
  }
}

}  // namespace

void sample(const SampleArgs& args, void* stream_handle) {
  if (args.batch == 0 || args.count == 0 || args.channels == 0 || args.size == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  by_dtype(args.dtype, [&]<class T>(T) { launch<T>(args, stream); });
  cuda_check_launch("sample", stream);
}

}  // namespace saccade::tensor::cuda
