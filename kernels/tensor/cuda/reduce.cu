// Mip levels of tensors: up to six in one launch. Beyond level 6 a second launch goes on from the workspace, which
// keeps what the first one carried, and one more column and row of it: what lies wholly beyond the edge.
#include "gpu/cuda/error.h"
#include "kernels/tensor/cuda/levels.cuh"

namespace saccade::tensor::cuda {
namespace {

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
    load_rows<T, In>(args, args.in + plane.first(args.in_b, args.in_c), x, y, rows[0]);
    const ChannelLevels<T, kQ> channels[1] = {{&shared, plane, number}};
    make_levels<T, In>(args, rows, channels, 1);
    __syncthreads();
  }
}

struct BlockRange {
  int cols, rows;
};

template <class T, class In>
void launch(const PassArgs<T, In>& args, BlockRange blocks, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(blocks.cols), static_cast<unsigned>(blocks.rows),
                  args.planes < 65535U ? args.planes : 65535U);
  reduce_kernel<T, In><<<grid, kThreads, 0, stream>>>(args);
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

template <class Call>
void dispatch(Dtype dtype, const Call& call) {
  switch (dtype) {
    case Dtype::kU8:
      return call(std::uint8_t{});
    case Dtype::kU16:
      return call(std::uint16_t{});
    case Dtype::kF16:
      return call(Half{});
    case Dtype::kBf16:
      return call(Bfloat{});
    case Dtype::kF32:
      return call(float{});
    case Dtype::kF64:
      return call(double{});
  }
}

bool is_empty(const ReduceArgs& args) {
  const ArrayView& base = args.level[0];
  return args.levels < 2 || base.batch == 0 || base.channels == 0 || base.width == 0 || base.height == 0;
}

}  // namespace

void reduce(const ReduceArgs& args, void* stream) {
  if (is_empty(args)) return;
  dispatch(args.level[0].dtype, [&]<class T>(T) { run<T>(args, static_cast<cudaStream_t>(stream)); });
}

void reduce_coarse(const ReduceArgs& args, void* stream) {
  if (is_empty(args)) return;
  dispatch(args.level[0].dtype, [&]<class T>(T) { run_coarse<T>(args, static_cast<cudaStream_t>(stream)); });
}

}  // namespace saccade::tensor::cuda
