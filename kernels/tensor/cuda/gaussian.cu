// Launches of the kernels of Gaussians: slices, parts of a batch that is longer than a grid, and the workspace.
#include "gpu/cuda/error.h"
#include "kernels/tensor/cuda/gaussian_kernels.cuh"
#include "kernels/tensor/cuda/grid_limits.cuh"

namespace saccade::tensor::cuda {
namespace {

using namespace gaussian;  // NOLINT: the kernels of this file

int blocks_of(int count, int at_once) { return count / at_once + (count % at_once != 0 ? 1 : 0); }

// launch(grid, first of the batch) for each part of the batch that a grid can take.
template <class Launch>
void for_batch(const GaussianArgs& args, int across, int slices, const Launch& launch) {
  for (int first = 0; first < args.batch; first += kMostBlocks) {
    const int deep = args.batch - first < kMostBlocks ? args.batch - first : kMostBlocks;
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
