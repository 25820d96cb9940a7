// Mip levels of tensors: up to six in one launch. Beyond level 6 a second launch goes on from the workspace, which
// keeps what the first one carried, and one more column and row of it: what lies wholly beyond the edge.
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
void launch(const PassArgs<T, In>& args, BlockRange blocks, cudaStream_t stream) {
  constexpr bool kNarrow = std::is_same_v<T, In> && sizeof(T) <= 2;
  const bool narrow = kNarrow && is_whole(args, kQuads<In>);
  const unsigned each = narrow ? planes_each(blocks, args.planes) : 1;
  const unsigned deep = (args.planes + each - 1) / each;
  const dim3 grid(static_cast<unsigned>(blocks.cols), static_cast<unsigned>(blocks.rows),
                  deep < 65535U ? deep : 65535U);
  if constexpr (kNarrow) {
    if (narrow) narrow_kernel<T><<<grid, kThreads, 0, stream>>>(args);
  }
  if (!narrow) reduce_kernel<T, In><<<grid, kThreads, 0, stream>>>(args);
  cuda_check_launch("reduce", stream);
}

template <class In>
int blocks_across(int texels) {
  return (texels + kTile * kQuads<In> - 1) / (kTile * kQuads<In>);
}

template <class T>
void run_second(const ReduceArgs& reduce, const PassArgs<T, T>& first, cudaStream_t stream) {
  if (first.carried == nullptr) return;
  const PassArgs<T, CarryOf<T>> second = second_pass(reduce, first);
  launch(second, {blocks_across<CarryOf<T>>(second.in_width), blocks_across<double>(second.in_height)}, stream);
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
