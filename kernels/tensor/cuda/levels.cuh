// What a block makes of its part of a plane: up to six levels. A block takes 64 Q x 64 texels, a thread Q x 1 quads of
// 4 x 4: Q so that it loads 16 bytes of each row.
//
//   quad:   4x4 texels -> 2x2 of level 1 -> 1 of level 2        registers
//   warp:   quads of two rows of threads -> level 3             shuffles
//   block:  8 Q x 8 texels of level 3 -> levels 4, 5, 6         shared memory
#pragma once

#include <cstring>

#include "kernels/tensor/reduce.h"
#include "kernels/tensor/reduce_math.h"

namespace saccade::tensor::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kTile = 64;
inline constexpr int kLevelsAtOnce = 6;

// Quads of a thread, side by side.
template <class In>
constexpr int kQuads = sizeof(In) == 1   ? 4
                       : sizeof(In) == 2 ? 2
                                         : 1;

template <class T>
struct OutLevel {
  T* data;
  std::int64_t stride_b, stride_c;
  int stride_y, stride_x;
  int width, height;
  int together;  // so many texels of a row may be stored at once: 8, 4, 2 or 1
};

// What a launch reads, level 0 or what an earlier one carried, and what it writes.
template <class T, class In>
struct PassArgs {
  const In* in;
  std::int64_t in_b, in_c;
  int in_y, in_x;
  int in_width, in_height;
  int together;  // so many elements of a row may be loaded at once: 16 to 1
  bool dense;    // everywhere stride_c leads on from one batch to the next
  int channels;
  unsigned planes;  // B * C
  int below;        // the level that is read
  int count;        // levels that are written
  OutLevel<T> out[kLevelsAtOnce];
  CarryOf<T>* carried;  // [planes, carried_height, carried_width], or null
  int carried_width, carried_height;
  int first_col, first_row;  // of blocks: where the grid begins
};

template <class T, class In>
__device__ __forceinline__ int block_col(const PassArgs<T, In>& args) {
  return static_cast<int>(blockIdx.x) + args.first_col;
}
template <class T, class In>
__device__ __forceinline__ int block_row(const PassArgs<T, In>& args) {
  return static_cast<int>(blockIdx.y) + args.first_row;
}

// So many elements, loaded or stored at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Row {
  T at[N];
};

// Registers are the limit: more blocks at once hide more of the memory's latency, until values spill.
template <class T, class In>
constexpr int kBlocksAtOnce = sizeof(CarryOf<T>) == 8 ? 2
                              : sizeof(In) <= 2       ? 3
                                                      : 4;

struct PlaneIndex {
  int b, c;
  __device__ __forceinline__ std::int64_t first(std::int64_t stride_b, std::int64_t stride_c) const {
    return b * stride_b + c * stride_c;
  }
};

template <class T, class In>
__device__ __forceinline__ PlaneIndex plane_index(const PassArgs<T, In>& args, unsigned plane) {
  if (args.dense) return {0, static_cast<int>(plane)};
  const auto channels = static_cast<unsigned>(args.channels);
  return {static_cast<int>(plane / channels), static_cast<int>(plane % channels)};
}

template <class T>
__device__ __forceinline__ T* plane_of(const OutLevel<T>& out, PlaneIndex plane) {
  return out.data + plane.first(out.stride_b, out.stride_c);
}

template <class T>
__device__ __forceinline__ void store_texel(const OutLevel<T>& out, T* plane, int x, int y, T texel) {
  if (x < out.width && y < out.height) plane[y * out.stride_y + x * out.stride_x] = texel;
}

// Two levels of a quad.
template <class T>
struct QuadLevels {
  T half[2][2];
  T quarter;
  CarryOf<T> carried;
};

template <class T>
__device__ __forceinline__ QuadLevels<T> quad_levels(const CarryOf<T> (&texels)[4][4], int below) {
  QuadLevels<T> quad;
  CarryOf<T> half[2][2];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      half[j][i] = join<T>(texels[2 * j][2 * i], texels[2 * j][2 * i + 1], texels[2 * j + 1][2 * i],
                           texels[2 * j + 1][2 * i + 1], below + 1, &quad.half[j][i]);
    }
  }
  quad.carried = join<T>(half[0][0], half[0][1], half[1][0], half[1][1], below + 2, &quad.quarter);
  return quad;
}

// The same from words of four 8-bit texels of level 0: two sums travel in a word.
__device__ __forceinline__ QuadLevels<std::uint8_t> quad_levels(const std::uint32_t (&rows)[4]) {
  QuadLevels<std::uint8_t> quad;
  std::uint32_t sums[2];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const std::uint32_t a = rows[2 * j];
    const std::uint32_t b = rows[2 * j + 1];
    sums[j] = (a & 0x00ff00ffU) + (a >> 8 & 0x00ff00ffU) + (b & 0x00ff00ffU) + (b >> 8 & 0x00ff00ffU);
    const std::uint32_t means = (sums[j] + 0x00020002U) >> 2;
    quad.half[j][0] = static_cast<std::uint8_t>(means);
    quad.half[j][1] = static_cast<std::uint8_t>(means >> 16);
  }
  const std::uint32_t both = sums[0] + sums[1];
  quad.carried = (both & 0xffffU) + (both >> 16);
  quad.quarter = static_cast<std::uint8_t>((quad.carried + 8) >> 4);
  return quad;
}

template <class T, class In>
__device__ __forceinline__ CarryOf<T> carry_in(In element) {
  if constexpr (std::is_same_v<T, In>) {
    return carry<T>(element);
  } else {
    return element;
  }
}

// Four elements of a row as words: bytes would take a register each.
template <class In>
struct Words {
  std::uint32_t word[sizeof(In)];
};

template <class T, class In>
__device__ __forceinline__ QuadLevels<T> levels_of(const Words<In> (&rows)[4], int below) {
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    const std::uint32_t words[4] = {rows[0].word[0], rows[1].word[0], rows[2].word[0], rows[3].word[0]};
    return quad_levels(words);
  } else {
    CarryOf<T> texels[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Row<In, 4> row;
      std::memcpy(&row, &rows[j], sizeof row);
#pragma unroll
      for (int i = 0; i < 4; ++i) texels[j][i] = carry_in<T, In>(row.at[i]);
    }
    return quad_levels<T>(texels, below);
  }
}

// A thread's texels from (x, y) on. Those beyond the image are its edge's.
template <class T, class In, int kQ>
__device__ __forceinline__ void load_rows(const PassArgs<T, In>& args, const In* in, int x, int y,
                                          Words<In> (&rows)[kQ][4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const In* row = in + min(y + j, args.in_height - 1) * args.in_y;
    if (args.together >= 4 * kQ && x + 4 * kQ <= args.in_width) {
      struct alignas(16) All {
        Words<In> quads[kQ];
      };
      const All all = *reinterpret_cast<const All*>(row + x);
#pragma unroll
      for (int q = 0; q < kQ; ++q) rows[q][j] = all.quads[q];
      continue;
    }
#pragma unroll
    for (int q = 0; q < kQ; ++q) {
      const int first = x + 4 * q;
      Row<In, 4> four;
      if (args.together >= 4 && first + 4 <= args.in_width) {
        four = *reinterpret_cast<const Row<In, 4>*>(row + first);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) four.at[i] = row[min(first + i, args.in_width - 1) * args.in_x];
      }
      std::memcpy(&rows[q][j], &four, sizeof four);
    }
  }
}

// N texels of a row from (x, y) on.
template <class T, int N>
__device__ __forceinline__ void store_row(const OutLevel<T>& out, T* plane, int x, int y, const Row<T, N>& row) {
  if (y >= out.height) return;
  if (out.together >= N && x + N <= out.width) {
    *reinterpret_cast<Row<T, N>*>(plane + y * out.stride_y + x) = row;
    return;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) store_texel(out, plane, x + i, y, row.at[i]);
}

// A level of the block in shared memory -> the next one, which has kCols x kRows texels. `out`: that level, whose texel
// (x, y) is the block's first. Threads that have no texel do nothing.
template <class T, int kCols, int kRows>
__device__ __forceinline__ void join_shared(const CarryOf<T> (&below)[2 * kRows][2 * kCols],
                                            CarryOf<T> (&next)[kRows][kCols], const OutLevel<T>& out, T* plane, int x,
                                            int y, int level) {
  const int i = static_cast<int>(threadIdx.x) % kCols;
  const int j = static_cast<int>(threadIdx.x) / kCols;
  if (j >= kRows) return;
  T stored;
  next[j][i] = join<T>(below[2 * j][2 * i], below[2 * j][2 * i + 1], below[2 * j + 1][2 * i],
                       below[2 * j + 1][2 * i + 1], level, &stored);
  store_texel(out, plane, x + i, y + j, stored);
}

// Level 3, of which each thread has half a texel's rows; valid in threads of even rows.
template <class T, int kQ>
__device__ __forceinline__ void store_eighths(const OutLevel<T>& out, T* plane, int col, int row, int tx, int ty,
                                              const CarryOf<T> (&carried)[kQ], int level,
                                              CarryOf<T> (&eighths)[8][8 * kQ]) {
  const int y = row * 8 + ty / 2;
  CarryOf<T> below[kQ];
#pragma unroll
  for (int q = 0; q < kQ; ++q) below[q] = __shfl_xor_sync(0xffffffffU, carried[q], 16);
  T stored;
  if constexpr (kQ == 1) {
    const CarryOf<T> right = __shfl_xor_sync(0xffffffffU, carried[0], 1);
    const CarryOf<T> across = __shfl_xor_sync(0xffffffffU, carried[0], 17);
    const CarryOf<T> value = join<T>(carried[0], right, below[0], across, level, &stored);
    if (tx % 2 != 0 || ty % 2 != 0) return;
    eighths[ty / 2][tx / 2] = value;
    store_texel(out, plane, col * 8 + tx / 2, y, stored);
  } else {
    if (ty % 2 != 0) return;
#pragma unroll
    for (int q = 0; q < kQ / 2; ++q) {
      const int x = tx * (kQ / 2) + q;
      eighths[ty / 2][x] = join<T>(carried[2 * q], carried[2 * q + 1], below[2 * q], below[2 * q + 1], level, &stored);
      store_texel(out, plane, col * 8 * kQ + x, y, stored);
    }
  }
}

template <class T, int kQ>
struct SharedLevels {
  CarryOf<T> eighths[8][8 * kQ];
  CarryOf<T> sixteenths[4][4 * kQ];
  CarryOf<T> thirtyseconds[2][2 * kQ];
  CarryOf<T> last[1][kQ];
};

// One channel of the block. `number`: of its plane.
template <class T, int kQ>
struct ChannelLevels {
  SharedLevels<T, kQ>* shared;
  PlaneIndex plane;
  unsigned number;
};

template <class T, class In, int kQ>
__device__ __forceinline__ void carry_on(const PassArgs<T, In>& args, const ChannelLevels<T, kQ>& channel) {
  const int x = block_col(args) * kQ + static_cast<int>(threadIdx.x);
  const int y = block_row(args);
  if (args.carried == nullptr || threadIdx.x >= kQ || x >= args.carried_width || y >= args.carried_height) return;
  const std::int64_t row = static_cast<std::int64_t>(channel.number) * args.carried_height + y;
  args.carried[row * args.carried_width + x] = channel.shared->last[0][threadIdx.x];
}

// Levels 4 to 6 of the block, of each channel. Called by all threads, after a barrier.
template <class T, class In, int kQ, int kGroup>
__device__ __forceinline__ void block_levels(const PassArgs<T, In>& args,
                                             const ChannelLevels<T, kQ> (&channels)[kGroup], int count) {
  const int bx = block_col(args) * kQ;
  const int by = block_row(args);
#pragma unroll
  for (int g = 0; g < kGroup; ++g) {
    if (g >= count) continue;
    SharedLevels<T, kQ>& shared = *channels[g].shared;
    join_shared<T, 4 * kQ, 4>(shared.eighths, shared.sixteenths, args.out[3], plane_of(args.out[3], channels[g].plane),
                              bx * 4, by * 4, args.below + 4);
  }
  if (args.count == 4) return;
  __syncthreads();
#pragma unroll
  for (int g = 0; g < kGroup; ++g) {
    if (g >= count) continue;
    SharedLevels<T, kQ>& shared = *channels[g].shared;
    join_shared<T, 2 * kQ, 2>(shared.sixteenths, shared.thirtyseconds, args.out[4],
                              plane_of(args.out[4], channels[g].plane), bx * 2, by * 2, args.below + 5);
    if (args.count == 5) continue;
    __syncwarp();  // these and the last are one warp's
    join_shared<T, kQ, 1>(shared.thirtyseconds, shared.last, args.out[5], plane_of(args.out[5], channels[g].plane), bx,
                          by, args.below + 6);
    carry_on(args, channels[g]);
  }
}

// The levels of a thread's own quads of one channel; level 3 stays in shared memory.
template <class T, class In, int kQ>
__device__ __forceinline__ void own_levels(const PassArgs<T, In>& args, const Words<In> (&rows)[kQ][4],
                                           const ChannelLevels<T, kQ>& channel) {
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  const int x = (block_col(args) * 16 + tx) * 4 * kQ;
  const int y = block_row(args) * kTile + ty * 4;
  const PlaneIndex plane = channel.plane;
  Row<T, 2 * kQ> half[2];
  Row<T, kQ> quarter;
  CarryOf<T> carried[kQ];
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    const QuadLevels<T> quad = levels_of<T, In>(rows[q], args.below);
#pragma unroll
    for (int k = 0; k < 4; ++k) half[k / 2].at[2 * q + k % 2] = quad.half[k / 2][k % 2];
    quarter.at[q] = quad.quarter;
    carried[q] = quad.carried;
  }
  T* first = plane_of(args.out[0], plane);
  store_row(args.out[0], first, x / 2, y / 2, half[0]);
  store_row(args.out[0], first, x / 2, y / 2 + 1, half[1]);
  if (args.count == 1) return;
  store_row(args.out[1], plane_of(args.out[1], plane), x / 4, y / 4, quarter);
  if (args.count == 2) return;
  store_eighths<T, kQ>(args.out[2], plane_of(args.out[2], plane), block_col(args), block_row(args), tx, ty, carried,
                       args.below + 3, channel.shared->eighths);
}

// All levels of the block, of `count` channels. Called by all its threads, with a barrier before the next call.
template <class T, class In, int kQ, int kGroup>
__device__ __forceinline__ void make_levels(const PassArgs<T, In>& args, const Words<In> (&rows)[kGroup][kQ][4],
                                            const ChannelLevels<T, kQ> (&channels)[kGroup], int count) {
#pragma unroll
  for (int g = 0; g < kGroup; ++g) {
    if (g < count) own_levels<T, In, kQ>(args, rows[g], channels[g]);
  }
  if (args.count <= 3) return;
  __syncthreads();
  block_levels<T, In, kQ, kGroup>(args, channels, count);
}

// 8, 4, 2 or 1 elements that may be read or written at once anywhere in the array.
inline int together_in(const ArrayView& view, int most) {
  if (view.stride_x != 1) return 1;
  int count = most;
  const auto at = reinterpret_cast<std::uintptr_t>(view.data);
  while (count > 1 && (view.stride_y % count != 0 || view.stride_c % count != 0 || view.stride_b % count != 0 ||
                       at % (static_cast<std::size_t>(count) * element_bytes(view.dtype)) != 0)) {
    count /= 2;
  }
  return count;
}

template <class T>
OutLevel<T> out_level(const ArrayView& view) {
  OutLevel<T> out;
  out.data = static_cast<T*>(view.data);
  out.stride_b = view.stride_b;
  out.stride_c = view.stride_c;
  out.stride_y = static_cast<int>(view.stride_y);
  out.stride_x = static_cast<int>(view.stride_x);
  out.width = view.width;
  out.height = view.height;
  out.together = together_in(view, 8);
  return out;
}

inline bool is_dense(const ArrayView& view) {
  return view.batch == 1 || view.stride_b == static_cast<std::int64_t>(view.channels) * view.stride_c;
}

// What is written: the levels after `below`.
template <class T, class In>
void set_levels(const ReduceArgs& reduce, int below, PassArgs<T, In>* args) {
  const ArrayView& base = reduce.level[0];
  args->channels = base.channels;
  args->planes = static_cast<unsigned>(base.batch) * static_cast<unsigned>(base.channels);
  args->below = below;
  args->count = reduce.levels - 1 - below < kLevelsAtOnce ? reduce.levels - 1 - below : kLevelsAtOnce;
  args->dense = below > 0 || is_dense(base);
  for (int k = 0; k < args->count; ++k) {
    args->out[k] = out_level<T>(reduce.level[below + 1 + k]);
    args->dense = args->dense && is_dense(reduce.level[below + 1 + k]);
  }
}

// The first pass, which reads level 0 and, beyond level 6, leaves what it carried in the workspace.
template <class T>
PassArgs<T, T> first_pass(const ReduceArgs& reduce) {
  const ArrayView& base = reduce.level[0];
  PassArgs<T, T> args = {};
  args.in = static_cast<const T*>(base.data);
  args.in_b = base.stride_b;
  args.in_c = base.stride_c;
  args.in_y = static_cast<int>(base.stride_y);
  args.in_x = static_cast<int>(base.stride_x);
  args.in_width = base.width;
  args.in_height = base.height;
  args.together = together_in(base, 16);
  if (reduce.levels - 1 > kLevelsAtOnce) {
    args.carried = static_cast<CarryOf<T>*>(reduce.workspace);
    args.carried_width = (base.width + kTile - 1) / kTile + 1;
    args.carried_height = (base.height + kTile - 1) / kTile + 1;
  }
  set_levels(reduce, 0, &args);
  return args;
}

// The second pass, from what the first one carried.
template <class T>
PassArgs<T, CarryOf<T>> second_pass(const ReduceArgs& reduce, const PassArgs<T, T>& first) {
  PassArgs<T, CarryOf<T>> args = {};
  args.in = first.carried;
  args.in_x = 1;
  args.together = 1;
  args.in_y = first.carried_width;
  args.in_c = static_cast<std::int64_t>(args.in_y) * first.carried_height;
  args.in_b = args.in_c * reduce.level[0].channels;
  args.in_width = first.carried_width;
  args.in_height = first.carried_height;
  set_levels(reduce, kLevelsAtOnce, &args);
  return args;
}

}  // namespace saccade::tensor::cuda
