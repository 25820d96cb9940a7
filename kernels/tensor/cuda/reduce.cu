// Mip levels of tensors: up to six in one launch. Beyond level 6 a second launch goes on from the workspace, which
// keeps what the first one carried, and one more column and row of it: what lies wholly beyond the edge. Beyond level
// 12 there are few texels, each of which a thread makes of what the second launch carried.
#include <cuda_pipeline.h>

#include "gpu/cuda/error.h"
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cuda/levels.cuh"

namespace saccade::tensor::cuda {
namespace {

constexpr int kNarrowBlocks = 4;                    // at once on a multiprocessor
constexpr unsigned long long kEnoughBlocks = 2048;  // a few for each place on the device
constexpr unsigned kMostPlanes = 8;

template <class T, class In>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<T, In>)
    reduce_kernel(const __grid_constant__ PassArgs<T, In> args) {
  constexpr int kQ = kQuads<In>;
  __shared__ SharedLevels<T, kQ> shared;
  const int x = (block_col(args) * 16 + static_cast<int>(threadIdx.x) % 16) * 4 * kQ;
  const int y = block_row(args) * kTile + static_cast<int>(threadIdx.x) / 16 * 4;
  for (unsigned number = blockIdx.z; number < args.planes; number += gridDim.z) {
    const PlaneIndex plane = plane_index(args, number);
    Words<In> rows[1][kQ][4];
    load_rows<T, In, false>(args, args.in + plane.first(args.in_b, args.in_c), x, y, rows[0]);
    const ChannelLevels<T, kQ> channels[1] = {{&shared, plane, number}};
    make_levels<T, In, false>(args, rows, channels, 1);
    __syncthreads();
  }
}

// Narrow elements in whole rows: a block takes several planes, and the next one's texels come into shared memory while
// it works on the last one's. A thread reads what it fetched itself, so nobody waits for it.
template <class T>
__global__ void __launch_bounds__(kThreads, kNarrowBlocks) narrow_kernel(const __grid_constant__ PassArgs<T, T> args) {
  constexpr int kQ = kQuads<T>;
  static_assert(sizeof(Words<T>) * kQ == sizeof(uint4));
  __shared__ SharedLevels<T, kQ> shared;
  __shared__ uint4 fetched[2][4][kThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  const int x = (block_col(args) * 16 + thread % 16) * 4 * kQ;
  const int y = block_row(args) * kTile + thread / 16 * 4;
  const T* mine = args.in + min(x, args.in_width - 4 * kQ);
  const auto fetch = [&](unsigned number, int stage) {
    if (number < args.planes) {
      const T* in = mine + number * args.in_c;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const T* row = in + min(y + j, args.in_height - 1) * args.in_y;
        __pipeline_memcpy_async(&fetched[stage][j][thread], row, sizeof(uint4));
      }
    }
    __pipeline_commit();
  };
  int stage = 0;
  fetch(blockIdx.z, stage);
  for (unsigned number = blockIdx.z; number < args.planes; number += gridDim.z) {
    fetch(number + gridDim.z, 1 - stage);
    __pipeline_wait_prior(1);
    Words<T> rows[1][kQ][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Words<T> quads[kQ];
      std::memcpy(quads, &fetched[stage][j][thread], sizeof quads);
      if (x >= args.in_width) repeat_last<T, kQ>(quads);
#pragma unroll
      for (int q = 0; q < kQ; ++q) rows[0][q][j] = quads[q];
    }
    const ChannelLevels<T, kQ> channels[1] = {{&shared, {0, static_cast<int>(number)}, number}};
    make_levels<T, T, true>(args, rows, channels, 1);
    __syncthreads();
    stage = 1 - stage;
  }
}

constexpr int kTopLevels = kMostLevels - 1 - 2 * kLevelsAtOnce;  // 13 and up

template <class T>
struct TopPass {
  const CarryOf<T>* carried;  // [planes, height, width] of level 12
  int width, height;
  int channels;
  unsigned planes;
};

// The texel of a level so many above 12, and what it carries on.
template <class T, int kAbove>
__device__ __forceinline__ WideOf<T> top_texel(const TopPass<T>& pass, const CarryOf<T>* plane, int x, int y,
                                               [[maybe_unused]] T* stored) {
  if constexpr (kAbove == 0) {
    return plane[static_cast<std::int64_t>(min(y, pass.height - 1)) * pass.width + min(x, pass.width - 1)];
  } else {
    T below;
    const WideOf<T> a = top_texel<T, kAbove - 1>(pass, plane, 2 * x, 2 * y, &below);
    const WideOf<T> b = top_texel<T, kAbove - 1>(pass, plane, 2 * x + 1, 2 * y, &below);
    const WideOf<T> c = top_texel<T, kAbove - 1>(pass, plane, 2 * x, 2 * y + 1, &below);
    const WideOf<T> d = top_texel<T, kAbove - 1>(pass, plane, 2 * x + 1, 2 * y + 1, &below);
    return join_as<T, WideOf<T>>(a, b, c, d, 2 * kLevelsAtOnce + kAbove, stored);
  }
}

template <class T, int kAbove>
__global__ void __launch_bounds__(kThreads) top_kernel(const TopPass<T> pass, const OutLevel<T> out) {
  const long long texels = static_cast<long long>(out.width) * out.height;
  const long long all = texels * pass.planes;
  for (long long k = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; k < all;
       k += static_cast<long long>(gridDim.x) * kThreads) {
    const auto number = static_cast<int>(k / texels);
    const auto x = static_cast<int>(k % texels % out.width);
    const auto y = static_cast<int>(k % texels / out.width);
    T stored;
    top_texel<T, kAbove>(pass, pass.carried + static_cast<std::int64_t>(number) * pass.height * pass.width, x, y,
                         &stored);
    store_texel(out, plane_of(out, {number / pass.channels, number % pass.channels}), x, y, stored);
  }
}

struct BlockRange {
  int cols, rows;
};

// Planes of a block: more than one only where the device has enough blocks to do with fewer.
unsigned planes_each(BlockRange blocks, unsigned planes) {
  const auto all = static_cast<unsigned long long>(blocks.cols) * static_cast<unsigned long long>(blocks.rows) * planes;
  const unsigned long long each = all / kEnoughBlocks;
  return each < 1 ? 1 : each < kMostPlanes ? static_cast<unsigned>(each) : kMostPlanes;
}

template <class T, class In>
void launch(PassArgs<T, In> args, BlockRange blocks, cudaStream_t stream) {
  constexpr bool kNarrow = std::is_same_v<T, In> && sizeof(T) <= 2;
  const bool narrow = kNarrow && is_whole(args, kQuads<In>);
  const unsigned each = narrow ? planes_each(blocks, args.planes) : 1;
  const unsigned deep = (args.planes + each - 1) / each;
  while (blocks.rows > 0) {
    const int rows = blocks.rows < kMostBlocks ? blocks.rows : kMostBlocks;
    const dim3 grid(static_cast<unsigned>(blocks.cols), static_cast<unsigned>(rows),
                    deep < kMostBlocks ? deep : kMostBlocks);
    if constexpr (kNarrow) {
      if (narrow) narrow_kernel<T><<<grid, kThreads, 0, stream>>>(args);
    }
    if (!narrow) reduce_kernel<T, In><<<grid, kThreads, 0, stream>>>(args);
    args.first_row += rows;
    blocks.rows -= rows;
  }
  cuda_check_launch("reduce", stream);
}

template <class In>
int blocks_across(int texels) {
  return (texels + kTile * kQuads<In> - 1) / (kTile * kQuads<In>);
}

// Levels 13 and up, one after the other.
template <class T, int kAbove>
void run_top(const ReduceArgs& reduce, const PassArgs<T, CarryOf<T>>& second, cudaStream_t stream) {
  if constexpr (kAbove <= kTopLevels) {
    const int level = 2 * kLevelsAtOnce + kAbove;
    if (level >= reduce.levels) return;
    const OutLevel<T> out = out_level<T>(reduce.level[level]);
    const TopPass<T> pass = {second.carried, second.carried_width, second.carried_height, second.channels,
                             second.planes};
    const long long texels = static_cast<long long>(out.width) * out.height * pass.planes;
    const long long blocks = (texels + kThreads - 1) / kThreads;
    if (texels > 0) {
      top_kernel<T, kAbove><<<static_cast<unsigned>(blocks < 4096 ? blocks : 4096), kThreads, 0, stream>>>(pass, out);
    }
    cuda_check_launch("reduce", stream);
    run_top<T, kAbove + 1>(reduce, second, stream);
  }
}

template <class T>
void run_second(const ReduceArgs& reduce, const PassArgs<T, T>& first, cudaStream_t stream) {
  if (first.carried == nullptr) return;
  const PassArgs<T, CarryOf<T>> second = second_pass(reduce, first);
  BlockRange blocks{blocks_across<CarryOf<T>>(second.in_width), blocks_across<double>(second.in_height)};
  if (second.carried != nullptr) blocks = {second.carried_width, second.carried_height};
  launch(second, blocks, stream);
  run_top<T, 1>(reduce, second, stream);
}

template <class T>
void run(const ReduceArgs& reduce, cudaStream_t stream) {
  const PassArgs<T, T> first = first_pass<T>(reduce);
  BlockRange blocks{blocks_across<T>(first.in_width), blocks_across<double>(first.in_height)};
  if (first.carried != nullptr) {
    blocks = {(first.carried_width + kQuads<T> - 1) / kQuads<T>, first.carried_height};
  }
  launch(first, blocks, stream);
  run_second(reduce, first, stream);
}

// The column and the row of blocks that lie wholly beyond the edge, and what follows from what was carried.
template <class T>
void run_coarse(const ReduceArgs& reduce, cudaStream_t stream) {
  PassArgs<T, T> first = first_pass<T>(reduce);
  if (first.carried == nullptr) return;
  const PassArgs<T, T> all = first;
  const int cols = (first.carried_width + kQuads<T> - 1) / kQuads<T>;
  first.first_col = (first.carried_width - 1) / kQuads<T>;
  launch(first, {1, first.carried_height}, stream);
  first.first_col = 0;
  first.first_row = first.carried_height - 1;
  launch(first, {cols, 1}, stream);
  run_second(reduce, all, stream);
}

bool is_empty(const ReduceArgs& args) {
  const ArrayView& base = args.level[0];
  return args.levels < 2 || base.batch == 0 || base.channels == 0 || base.width == 0 || base.height == 0;
}

}  // namespace

void reduce(const ReduceArgs& args, void* stream) {
  if (is_empty(args)) return;
  by_dtype(args.level[0].dtype, [&]<class T>(T) { run<T>(args, static_cast<cudaStream_t>(stream)); });
}

void reduce_coarse(const ReduceArgs& args, void* stream) {
  if (is_empty(args)) return;
  by_dtype(args.level[0].dtype, [&]<class T>(T) { run_coarse<T>(args, static_cast<cudaStream_t>(stream)); });
}

}  // namespace saccade::tensor::cuda
