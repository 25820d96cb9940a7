// A block samples a patch, its threads the samples; or, for single points, a thread samples a point.
#include "gpu/cuda/error.h"
#include "kernels/tensor/sample.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTogether = 4;  // channels whose texels are read at once

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
  } else {
    sample_patches_kernel<T><<<grid, kThreads, 0, stream>>>(args, share);
  }
}

}  // namespace

void sample(const SampleArgs& args, void* stream_handle) {
  if (args.batch == 0 || args.count == 0 || args.channels == 0 || args.size == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  switch (args.dtype) {
    case Dtype::kU8:
      launch<std::uint8_t>(args, stream);
      break;
    case Dtype::kU16:
      launch<std::uint16_t>(args, stream);
      break;
    case Dtype::kF16:
      launch<Half>(args, stream);
      break;
    case Dtype::kBf16:
      launch<Bfloat>(args, stream);
      break;
    case Dtype::kF32:
      launch<float>(args, stream);
      break;
    case Dtype::kF64:
      launch<double>(args, stream);
      break;
  }
  cuda_check_launch("sample", stream);
}

}  // namespace saccade::tensor::cuda
