// The gradient of the levels: each texel of level 0 gathers what it has in every level above it. A thread takes 4 x 4
// texels: one texel of each level from 2 on, 2 x 2 of level 1.
#include "gpu/cuda/error.h"
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cuda/grid_limits.cuh"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
struct alignas(sizeof(T) * 4) Four {
  T at[4];
};

struct LevelSize {
  int width, height;
};

struct GradPass {
  ReduceGradArgs args;
  LevelSize size[kMostLevels];
  unsigned planes;
  int first_row;   // of blocks: where the grid begins
  bool wide_rows;  // four elements of a row of the base may be stored at once
};

// A level's gradient at (x, y), in [.., height, width] without gaps.
template <class G, bool kFixed>
__device__ __forceinline__ Value<G> gradient_at(const GradPass& pass, int level, unsigned plane, int x, int y) {
  const LevelSize size = pass.size[level];
  const std::int64_t at = (static_cast<std::int64_t>(plane) * size.height + y) * size.width + x;
  if constexpr (kFixed) {
    const double steps = static_cast<double>(static_cast<const long long*>(pass.args.level[level])[at]);
    return static_cast<Value<G>>(steps * *pass.args.unit);
  } else {
    return load(static_cast<const G*>(pass.args.level[level])[at]);
  }
}

template <class V>
__device__ __forceinline__ V weight_of(int level) {
  return V(1) / static_cast<V>(1ULL << (2 * level));
}

// Where every level has the whole 4 x 4 texels, without a repeated edge among them.
template <class G, bool kFixed, class V>
__device__ __forceinline__ void gather_inside(const GradPass& pass, unsigned plane, int x, int y, V (&sums)[4][4]) {
  const ReduceGradArgs& args = pass.args;
  V coarse = V(0);
  for (int level = args.levels - 1; level >= 2; --level) {
    if (args.level[level] == nullptr) continue;
    coarse += static_cast<V>(gradient_at<G, kFixed>(pass, level, plane, x >> level, y >> level)) * weight_of<V>(level);
  }
  V half[4] = {coarse, coarse, coarse, coarse};
  if (args.levels > 1 && args.level[1] != nullptr) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      half[k] += static_cast<V>(gradient_at<G, kFixed>(pass, 1, plane, x / 2 + k % 2, y / 2 + k / 2)) * weight_of<V>(1);
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) sums[k / 4][k % 4] = half[k / 8 * 2 + k % 4 / 2];
  if (args.level[0] == nullptr) return;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    sums[k / 4][k % 4] += static_cast<V>(gradient_at<G, kFixed>(pass, 0, plane, x + k % 4, y + k / 4));
  }
}

// One texel anywhere.
template <class G, bool kFixed, class V>
__device__ __forceinline__ V gather_texel(const GradPass& pass, unsigned plane, int x, int y) {
  const ReduceGradArgs& args = pass.args;
  V sum = V(0);
  for (int level = args.levels - 1; level >= 0; --level) {
    if (args.level[level] == nullptr) continue;
    const int share =
        level == 0 ? 1 : share_of(x, args.base.width, level, args.odd) * share_of(y, args.base.height, level, args.odd);
    if (share == 0) continue;
    const V value = static_cast<V>(gradient_at<G, kFixed>(pass, level, plane, x >> level, y >> level));
    sum += value * (weight_of<V>(level) * static_cast<V>(share));
  }
  return sum;
}

template <class T, class G, bool kFixed>
__global__ void __launch_bounds__(kThreads) reduce_back_kernel(const __grid_constant__ GradPass pass) {
  using V = Value<T>;
  const ArrayView& base = pass.args.base;
  const int x = (static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x) % 32) * 4;
  const int y = ((pass.first_row + static_cast<int>(blockIdx.y)) * 8 + static_cast<int>(threadIdx.x) / 32) * 4;
  if (x >= base.width || y >= base.height) return;
  const int coarsest = pass.args.levels - 1;
  const bool inside = ((x >> coarsest) + 1) << coarsest <= base.width &&
                      ((y >> coarsest) + 1) << coarsest <= base.height && x + 4 <= base.width && y + 4 <= base.height;
  for (unsigned plane = blockIdx.z; plane < pass.planes; plane += gridDim.z) {
    const auto channels = static_cast<unsigned>(base.channels);
    T* out = static_cast<T*>(base.data) + plane / channels * base.stride_b + plane % channels * base.stride_c +
             y * base.stride_y;
    if (!inside) {
      for (int k = 0; k < 16; ++k) {
        const int dx = k % 4;
        const int dy = k / 4;
        if (x + dx >= base.width || y + dy >= base.height) continue;
        store(gather_texel<G, kFixed, V>(pass, plane, x + dx, y + dy),
              out + dy * base.stride_y + (x + dx) * base.stride_x);
      }
      continue;
    }
    V sums[4][4];
    gather_inside<G, kFixed, V>(pass, plane, x, y, sums);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Four<T> row;
#pragma unroll
      for (int i = 0; i < 4; ++i) store(sums[j][i], &row.at[i]);
      T* at = out + j * base.stride_y + x * base.stride_x;
      if (pass.wide_rows) {
        *reinterpret_cast<Four<T>*>(at) = row;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) at[i * base.stride_x] = row.at[i];
      }
    }
  }
}

template <class T, class G, bool kFixed>
void launch(GradPass pass, cudaStream_t stream) {
  const ArrayView& base = pass.args.base;
  const int rows = (base.height + 31) / 32;
  for (pass.first_row = 0; pass.first_row < rows; pass.first_row += kMostBlocks) {
    const int some = rows - pass.first_row < kMostBlocks ? rows - pass.first_row : kMostBlocks;
    const dim3 grid(static_cast<unsigned>((base.width + 127) / 128), static_cast<unsigned>(some),
                    pass.planes < kMostBlocks ? pass.planes : kMostBlocks);
    reduce_back_kernel<T, G, kFixed><<<grid, kThreads, 0, stream>>>(pass);
  }
}

template <class T>
void run(GradPass pass, cudaStream_t stream) {
  const ArrayView& base = pass.args.base;
  pass.wide_rows = base.stride_x == 1 && base.stride_y % 4 == 0 && base.stride_c % 4 == 0 && base.stride_b % 4 == 0 &&
                   reinterpret_cast<std::uintptr_t>(base.data) % sizeof(Four<T>) == 0;
  if (pass.args.unit != nullptr) {
    launch<T, Value<T>, true>(pass, stream);
  } else if (pass.args.dtype == base.dtype) {
    launch<T, T, false>(pass, stream);
  } else {
    launch<T, Value<T>, false>(pass, stream);
  }
}

}  // namespace

void reduce_backward(const ReduceGradArgs& args, void* stream_handle) {
  const ArrayView& base = args.base;
  GradPass pass{args, {}, static_cast<unsigned>(base.batch) * static_cast<unsigned>(base.channels), 0, false};
  if (pass.planes == 0 || base.width == 0 || base.height == 0) return;
  for (int level = 0; level < args.levels; ++level) {
    pass.size[level] = {level_extent(base.width, level, args.odd), level_extent(base.height, level, args.odd)};
  }
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  by_floating_dtype(base.dtype, [&]<class T>(T) { run<T>(pass, stream); });
  cuda_check_launch("reduce_backward", stream);
}

}  // namespace saccade::tensor::cuda
