// Up to six levels in one launch: a block takes 64 x 64 texels, a thread 4 x 4 of them.
//
//   thread: 4x4 texels -> 2x2 of level 1 -> 1 of level 2      registers
//   warp:   2 rows of 16 threads -> level 3                   shuffles
//   block:  8x8 texels of level 3 -> levels 4, 5, 6           one warp
//
// Beyond level 6 a second launch goes on from the workspace, which keeps what the first one carried, and one more
// column and row of it: what lies wholly beyond the edge.
#include "gpu/cuda/error.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;
constexpr int kLevelsAtOnce = 6;

template <class T>
struct OutLevel {
  T* data;
  std::int64_t stride_b, stride_c, stride_y, stride_x;
  int width, height;
  bool pairs;  // two texels of a row may be stored at once
};

// What a launch reads: level 0, or what an earlier one carried.
template <class T, class In>
struct PassArgs {
  const In* in;
  std::int64_t in_b, in_c, in_y, in_x;
  int in_width, in_height;
  bool in_quads;  // four elements of a row may be loaded at once
  int channels;
  long long planes;  // B * C
  int below;         // the level that is read
  int count;         // levels that are written
  OutLevel<T> out[kLevelsAtOnce];
  CarryOf<T>* carried;  // [planes, carried_height, carried_width], or null
  int carried_width, carried_height;
};

template <class T>
struct alignas(sizeof(T) * 4) Four {
  T at[4];
};
template <class T>
struct alignas(sizeof(T) * 2) Two {
  T at[2];
};

template <class T, class In>
__device__ __forceinline__ CarryOf<T> carry_in(In element) {
  if constexpr (std::is_same_v<T, In>) {
    return carry<T>(element);
  } else {
    return element;
  }
}

template <class T, class In>
__device__ __forceinline__ void load_rows(const PassArgs<T, In>& args, const In* plane, int x, int y,
                                          CarryOf<T> (&texels)[4][4]) {
  if (args.in_quads && x + 4 <= args.in_width) {
    Four<In> rows[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const In* row = plane + min(y + j, args.in_height - 1) * args.in_y;
      rows[j] = *reinterpret_cast<const Four<In>*>(row + x);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) texels[j][i] = carry_in<T, In>(rows[j].at[i]);
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const In* row = plane + min(y + j, args.in_height - 1) * args.in_y;
#pragma unroll
    for (int i = 0; i < 4; ++i) texels[j][i] = carry_in<T, In>(row[min(x + i, args.in_width - 1) * args.in_x]);
  }
}

template <class T>
__device__ __forceinline__ void store_texel(const OutLevel<T>& out, T* plane, int x, int y, T texel) {
  if (x < out.width && y < out.height) plane[y * out.stride_y + x * out.stride_x] = texel;
}

template <class T>
__device__ __forceinline__ T* plane_of(const OutLevel<T>& out, int b, int c) {
  return out.data + b * out.stride_b + c * out.stride_c;
}

// The thread's own two levels. Returns what it carries on.
template <class T, class In>
__device__ __forceinline__ CarryOf<T> thread_levels(const PassArgs<T, In>& args, const CarryOf<T> (&texels)[4][4],
                                                    int x, int y, int b, int c) {
  CarryOf<T> half[2][2];
  Two<T> rows[2];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      half[j][i] = join<T>(texels[2 * j][2 * i], texels[2 * j][2 * i + 1], texels[2 * j + 1][2 * i],
                           texels[2 * j + 1][2 * i + 1], args.below + 1, &rows[j].at[i]);
    }
  }
  const OutLevel<T>& first = args.out[0];
  T* plane = plane_of(first, b, c);
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (first.pairs && x / 2 + 2 <= first.width && y / 2 + j < first.height) {
      *reinterpret_cast<Two<T>*>(plane + (y / 2 + j) * first.stride_y + x / 2) = rows[j];
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i) store_texel(first, plane, x / 2 + i, y / 2 + j, rows[j].at[i]);
    }
  }
  T stored;
  const CarryOf<T> sum = join<T>(half[0][0], half[0][1], half[1][0], half[1][1], args.below + 2, &stored);
  if (args.count > 1) store_texel(args.out[1], plane_of(args.out[1], b, c), x / 4, y / 4, stored);
  return sum;
}

// The next level from lanes `step_x` and `step_y` apart; valid in the top left one of each four.
template <class T>
__device__ __forceinline__ CarryOf<T> join_lanes(CarryOf<T> value, int step_x, int step_y, unsigned mask, int level,
                                                 T* stored) {
  const CarryOf<T> right = __shfl_xor_sync(mask, value, step_x);
  const CarryOf<T> below = __shfl_xor_sync(mask, value, step_y);
  const CarryOf<T> across = __shfl_xor_sync(mask, value, step_x | step_y);
  return join<T>(value, right, below, across, level, stored);
}

template <class T, class In>
__global__ void __launch_bounds__(kThreads) reduce_kernel(const __grid_constant__ PassArgs<T, In> args) {
  using C = CarryOf<T>;
  __shared__ C eighths[8][8];
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  const int x = static_cast<int>(blockIdx.x) * kTile + tx * 4;
  const int y = static_cast<int>(blockIdx.y) * kTile + ty * 4;
  for (long long plane = blockIdx.z; plane < args.planes; plane += gridDim.z) {
    const int b = static_cast<int>(plane / args.channels);
    const int c = static_cast<int>(plane % args.channels);
    C texels[4][4];
    load_rows<T, In>(args, args.in + b * args.in_b + c * args.in_c, x, y, texels);
    C value = thread_levels<T, In>(args, texels, x, y, b, c);
    if (args.count <= 2) continue;
    T stored;
    value = join_lanes<T>(value, 1, 16, 0xffffffffU, args.below + 3, &stored);
    if (tx % 2 == 0 && ty % 2 == 0) {
      store_texel(args.out[2], plane_of(args.out[2], b, c), x / 8, y / 8, stored);
      eighths[ty / 2][tx / 2] = value;
    }
    if (args.count <= 3) continue;
    __syncthreads();
    if (threadIdx.x < 16) {
      const int qx = tx % 4;
      const int qy = tx / 4;
      value = join<T>(eighths[2 * qy][2 * qx], eighths[2 * qy][2 * qx + 1], eighths[2 * qy + 1][2 * qx],
                      eighths[2 * qy + 1][2 * qx + 1], args.below + 4, &stored);
      const int bx = static_cast<int>(blockIdx.x);
      const int by = static_cast<int>(blockIdx.y);
      store_texel(args.out[3], plane_of(args.out[3], b, c), bx * 4 + qx, by * 4 + qy, stored);
      if (args.count > 4) {
        value = join_lanes<T>(value, 1, 4, 0xffffU, args.below + 5, &stored);
        if ((tx & 5) == 0) {
          store_texel(args.out[4], plane_of(args.out[4], b, c), bx * 2 + qx / 2, by * 2 + qy / 2, stored);
        }
      }
      if (args.count > 5) {
        value = join_lanes<T>(value, 2, 8, 0xffffU, args.below + 6, &stored);
        if (tx == 0) {
          store_texel(args.out[5], plane_of(args.out[5], b, c), bx, by, stored);
          if (args.carried != nullptr && bx < args.carried_width && by < args.carried_height) {
            args.carried[(plane * args.carried_height + by) * args.carried_width + bx] = value;
          }
        }
      }
    }
    __syncthreads();
  }
}

template <class T>
OutLevel<T> out_level(const ArrayView& view) {
  const bool pairs = view.stride_x == 1 && view.stride_y % 2 == 0 && view.stride_c % 2 == 0 && view.stride_b % 2 == 0 &&
                     reinterpret_cast<std::uintptr_t>(view.data) % (2 * sizeof(T)) == 0;
  return {static_cast<T*>(view.data),
          view.stride_b,
          view.stride_c,
          view.stride_y,
          view.stride_x,
          view.width,
          view.height,
          pairs};
}

template <class T, class In>
void launch_pass(PassArgs<T, In>& args, const ReduceArgs& reduce, int below, cudaStream_t stream) {
  const ArrayView& base = reduce.level[0];
  args.channels = base.channels;
  args.planes = static_cast<long long>(base.batch) * base.channels;
  args.below = below;
  args.count = reduce.levels - 1 - below < kLevelsAtOnce ? reduce.levels - 1 - below : kLevelsAtOnce;
  for (int k = 0; k < args.count; ++k) args.out[k] = out_level<T>(reduce.level[below + 1 + k]);
  // the blocks of what is written, and of what is carried on
  int cols = (args.in_width + kTile - 1) / kTile;
  int rows = (args.in_height + kTile - 1) / kTile;
  if (args.carried != nullptr) cols = args.carried_width, rows = args.carried_height;
  const dim3 grid(static_cast<unsigned>(cols), static_cast<unsigned>(rows),
                  static_cast<unsigned>(args.planes < 65535 ? args.planes : 65535));
  reduce_kernel<T, In><<<grid, kThreads, 0, stream>>>(args);
  cuda_check_launch("reduce", stream);
}

template <class T>
void run(const ReduceArgs& reduce, cudaStream_t stream) {
  const ArrayView& base = reduce.level[0];
  PassArgs<T, T> first = {};
  first.in = static_cast<const T*>(base.data);
  first.in_b = base.stride_b;
  first.in_c = base.stride_c;
  first.in_y = base.stride_y;
  first.in_x = base.stride_x;
  first.in_width = base.width;
  first.in_height = base.height;
  first.in_quads = base.stride_x == 1 && base.stride_y % 4 == 0 && base.stride_c % 4 == 0 && base.stride_b % 4 == 0 &&
                   reinterpret_cast<std::uintptr_t>(base.data) % (4 * sizeof(T)) == 0;
  const bool again = reduce.levels - 1 > kLevelsAtOnce;
  if (again) {
    first.carried = static_cast<CarryOf<T>*>(reduce.workspace);
    first.carried_width = (base.width + kTile - 1) / kTile + 1;
    first.carried_height = (base.height + kTile - 1) / kTile + 1;
  }
  launch_pass(first, reduce, 0, stream);
  if (!again) return;
  PassArgs<T, CarryOf<T>> second = {};
  second.in = first.carried;
  second.in_x = 1;
  second.in_y = first.carried_width;
  second.in_c = second.in_y * first.carried_height;
  second.in_b = second.in_c * base.channels;
  second.in_width = first.carried_width;
  second.in_height = first.carried_height;
  launch_pass(second, reduce, kLevelsAtOnce, stream);
}

// ---- Backward ----

struct GradPass {
  ReduceGradArgs args;
  long long planes;
};

template <class G>
__device__ __forceinline__ Value<G> gradient_of(const void* level, std::int64_t at) {
  return load(static_cast<const G*>(level)[at]);
}

// A thread takes four texels of a row: their gradients from every level, coarse to fine.
template <class T, class G, bool kFixed>
__global__ void __launch_bounds__(kThreads) reduce_back_kernel(const __grid_constant__ GradPass pass) {
  using V = Value<T>;
  const ReduceGradArgs& args = pass.args;
  const ArrayView& base = args.base;
  const int x0 = (static_cast<int>(blockIdx.x) * 64 + static_cast<int>(threadIdx.x) % 64) * 4;
  const int y = static_cast<int>(blockIdx.y) * 4 + static_cast<int>(threadIdx.x) / 64;
  if (x0 >= base.width || y >= base.height) return;
  const V unit = kFixed ? static_cast<V>(*args.unit) : V(1);
  for (long long plane = blockIdx.z; plane < pass.planes; plane += gridDim.z) {
    V sum[4] = {V(0), V(0), V(0), V(0)};
    for (int level = args.levels - 1; level >= 0; --level) {
      if (args.level[level] == nullptr) continue;
      const int width = level_extent(base.width, level, args.odd);
      const int height = level_extent(base.height, level, args.odd);
      const int share_y = level == 0 ? 1 : share_of(y, base.height, level, args.odd);
      if (share_y == 0) continue;
      const std::int64_t row = (plane * height + (y >> level)) * width;
      const V weight = V(1) / static_cast<V>(1ULL << (2 * level));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = x0 + i;
        if (x >= base.width) continue;
        const int share = level == 0 ? 1 : share_of(x, base.width, level, args.odd) * share_y;
        if (share == 0) continue;
        V value;
        if constexpr (kFixed) {
          value =
              static_cast<V>(static_cast<double>(static_cast<const long long*>(args.level[level])[row + (x >> level)]) *
                             static_cast<double>(unit));
        } else {
          value = static_cast<V>(gradient_of<G>(args.level[level], row + (x >> level)));
        }
        sum[i] += value * (weight * static_cast<V>(share));
      }
    }
    const int b = static_cast<int>(plane / base.channels);
    const int c = static_cast<int>(plane % base.channels);
    T* out = static_cast<T*>(base.data) + b * base.stride_b + c * base.stride_c + y * base.stride_y;
    Four<T> four;
#pragma unroll
    for (int i = 0; i < 4; ++i) store(sum[i], &four.at[i]);
    if (base.stride_x == 1 && x0 + 4 <= base.width &&
        reinterpret_cast<std::uintptr_t>(out + x0) % sizeof(Four<T>) == 0) {
      *reinterpret_cast<Four<T>*>(out + x0) = four;
    } else {
      for (int i = 0; i < 4 && x0 + i < base.width; ++i) out[(x0 + i) * base.stride_x] = four.at[i];
    }
  }
}

template <class T, class G, bool kFixed>
void launch_back(const GradPass& pass, cudaStream_t stream) {
  const ArrayView& base = pass.args.base;
  const dim3 grid(static_cast<unsigned>((base.width + 255) / 256), static_cast<unsigned>((base.height + 3) / 4),
                  static_cast<unsigned>(pass.planes < 65535 ? pass.planes : 65535));
  reduce_back_kernel<T, G, kFixed><<<grid, kThreads, 0, stream>>>(pass);
}

template <class T>
void run_back(const GradPass& pass, cudaStream_t stream) {
  if (pass.args.unit != nullptr) {
    launch_back<T, Value<T>, true>(pass, stream);
  } else if (pass.args.dtype == pass.args.base.dtype) {
    launch_back<T, T, false>(pass, stream);
  } else {
    launch_back<T, Value<T>, false>(pass, stream);
  }
}

}  // namespace

void reduce(const ReduceArgs& args, void* stream_handle) {
  const ArrayView& base = args.level[0];
  if (args.levels < 2 || base.batch == 0 || base.channels == 0 || base.width == 0 || base.height == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  switch (base.dtype) {
    case Dtype::kU8:
      return run<std::uint8_t>(args, stream);
    case Dtype::kU16:
      return run<std::uint16_t>(args, stream);
    case Dtype::kF16:
      return run<Half>(args, stream);
    case Dtype::kBf16:
      return run<Bfloat>(args, stream);
    case Dtype::kF32:
      return run<float>(args, stream);
    case Dtype::kF64:
      return run<double>(args, stream);
  }
}

void reduce_backward(const ReduceGradArgs& args, void* stream_handle) {
  const GradPass pass{args, static_cast<long long>(args.base.batch) * args.base.channels};
  if (pass.planes == 0 || args.base.width == 0 || args.base.height == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  switch (args.base.dtype) {
    case Dtype::kF16:
      run_back<Half>(pass, stream);
      break;
    case Dtype::kBf16:
      run_back<Bfloat>(pass, stream);
      break;
    case Dtype::kF32:
      run_back<float>(pass, stream);
      break;
    case Dtype::kF64:
      run_back<double>(pass, stream);
      break;
    case Dtype::kU8:
    case Dtype::kU16:
      return;
  }
  cuda_check_launch("reduce_backward", stream);
}

}  // namespace saccade::tensor::cuda
