// What a block makes of its part of a plane: up to six levels. A block takes 64 Q x 64 texels, a thread Q x 1 quads of
// 4 x 4: Q so that it loads 16 bytes of each row.
//
//   quad:   4x4 texels -> 2x2 of level 1 -> 1 of level 2        registers
//   warp:   quads of two rows of threads -> level 3             shuffles
//   block:  8 Q x 8 texels of level 3 -> levels 4, 5, 6         shared memory
#pragma once

#include <cstring>

#include "kernels/tensor/cuda/pass.cuh"

namespace saccade::tensor::cuda {

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
  int b, c;  // where all strides lead on: 0, and the plane's number
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

// Two levels of a thread's quads: two rows of level 1, a row of level 2, and what is carried on.
template <class T, int kQ>
struct OwnLevels {
  Row<T, 2 * kQ> half[2];
  Row<T, kQ> quarter;
  CarryOf<T> carried[kQ];
};

template <class T, class In, int kQ>
__device__ __forceinline__ OwnLevels<T, kQ> join_own(const Words<In> (&rows)[kQ][4], int below) {
  OwnLevels<T, kQ> own;
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    const QuadLevels<T> quad = levels_of<T, In>(rows[q], below);
#pragma unroll
    for (int k = 0; k < 4; ++k) own.half[k / 2].at[2 * q + k % 2] = quad.half[k / 2][k % 2];
    own.quarter.at[q] = quad.quarter;
    own.carried[q] = quad.carried;
  }
  return own;
}

// Two sums of at most 16 bits in a word.
__device__ __forceinline__ std::uint32_t sum_of_pair(std::uint32_t pair) { return __dp2a_lo(pair, 0x0101U, 0U); }

// The same of 8-bit texels of level 0, whose sums travel in pairs: a fifth of the instructions.
template <int kQ>
__device__ __forceinline__ OwnLevels<std::uint8_t, kQ> join_bytes(const Words<std::uint8_t> (&rows)[kQ][4]) {
  static_assert(kQ == 1 || kQ == 4);
  constexpr std::uint32_t kEven = 0x00ff00ffU;
  OwnLevels<std::uint8_t, kQ> own;
  std::uint32_t means[2][kQ];  // in bytes 0 and 2
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    std::uint32_t both = 0;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const std::uint32_t a = rows[q][2 * j].word[0];
      const std::uint32_t b = rows[q][2 * j + 1].word[0];
      // bytes 1 and 3 of each
      const std::uint32_t sums = (a & kEven) + __byte_perm(a, 0, 0x4341) + (b & kEven) + __byte_perm(b, 0, 0x4341);
      means[j][q] = (sums + 0x00020002U) >> 2;
      both += sums;
    }
    own.carried[q] = sum_of_pair(both);
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    std::uint32_t words[(kQ + 1) / 2];
#pragma unroll
    for (int w = 0; w < (kQ + 1) / 2; ++w) {
      words[w] = __byte_perm(means[j][2 * w], means[j][kQ > 1 ? 2 * w + 1 : 0], 0x6420);
    }
    std::memcpy(&own.half[j], words, sizeof own.half[j]);
  }
  std::uint32_t quarters = (own.carried[0] + 8) >> 4;
  if constexpr (kQ == 4) {
    const std::uint32_t left = (own.carried[0] + (own.carried[1] << 16) + 0x00080008U) >> 4;
    const std::uint32_t right = (own.carried[2] + (own.carried[3] << 16) + 0x00080008U) >> 4;
    quarters = __byte_perm(left, right, 0x6420);
  }
  std::memcpy(&own.quarter, &quarters, sizeof own.quarter);
  return own;
}

// Every element of a row becomes its last.
template <class In, int kQ>
__device__ __forceinline__ void repeat_last(Words<In> (&quads)[kQ]) {
  Row<In, 4> row;
  std::memcpy(&row, &quads[kQ - 1], sizeof row);
#pragma unroll
  for (int i = 0; i < 3; ++i) row.at[i] = row.at[3];
#pragma unroll
  for (int q = 0; q < kQ; ++q) std::memcpy(&quads[q], &row, sizeof row);
}

// A thread's texels from (x, y) on. Those beyond the image are its edge's.
template <class T, class In, bool kWhole, int kQ>
__device__ __forceinline__ void load_rows(const PassArgs<T, In>& args, const In* in, int x, int y,
                                          Words<In> (&rows)[kQ][4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const In* row = in + min(y + j, args.in_height - 1) * args.in_y;
    struct alignas(sizeof(In) * 4 * kQ < 16 ? sizeof(In) * 4 * kQ : 16) All {
      Words<In> quads[kQ];
    };
    if constexpr (kWhole) {
      // What lies beyond is repeated from the last quad's texels one by one: its last one counts.
      const int inside = min(x, args.in_width - 4 * kQ);
      All all = *reinterpret_cast<const All*>(row + inside);
      if (x >= args.in_width) repeat_last<In, kQ>(all.quads);
#pragma unroll
      for (int q = 0; q < kQ; ++q) rows[q][j] = all.quads[q];
      continue;
    }
    if (args.together >= 4 * kQ && x + 4 * kQ <= args.in_width) {
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

// N texels of a row from (x, y) on. `kWhole`: rows are known to end with the image, or not to reach it, see is_whole().
template <class T, bool kWhole, int N>
__device__ __forceinline__ void store_row(const OutLevel<T>& out, T* plane, int x, int y, const Row<T, N>& row) {
  if (y >= out.height) return;
  if constexpr (kWhole) {
    if (x < out.width) *reinterpret_cast<Row<T, N>*>(plane + y * out.stride_y + x) = row;
    return;
  }
  if (out.together >= N && x + N <= out.width) {
    *reinterpret_cast<Row<T, N>*>(plane + y * out.stride_y + x) = row;
    return;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) store_texel(out, plane, x + i, y, row.at[i]);
}

// A level of the block in shared memory -> the next one, which has kCols x kRows texels. `out`: that level, whose texel
// (x, y) is the block's first. `t`: the thread among the kCols * kRows that have a texel each.
template <class T, int kCols, int kRows>
__device__ __forceinline__ void join_shared(const CarryOf<T> (&below)[2 * kRows][2 * kCols],
                                            CarryOf<T> (&next)[kRows][kCols], const OutLevel<T>& out, T* plane, int x,
                                            int y, int level, int t) {
  const int i = t % kCols;
  const int j = t / kCols;
  T stored;
  next[j][i] = join<T>(below[2 * j][2 * i], below[2 * j][2 * i + 1], below[2 * j + 1][2 * i],
                       below[2 * j + 1][2 * i + 1], level, &stored);
  store_texel(out, plane, x + i, y + j, stored);
}

// Level 3 of 8-bit texels, in pairs. `eighths`: a thread's two of it.
template <bool kWhole>
__device__ __forceinline__ void store_byte_eighths(const OutLevel<std::uint8_t>& out, std::uint8_t* plane, int x, int y,
                                                   int ty, const std::uint32_t (&carried)[4], std::uint32_t* eighths) {
  std::uint32_t left = carried[0] + (carried[1] << 16);
  std::uint32_t right = carried[2] + (carried[3] << 16);
  left += __shfl_xor_sync(0xffffffffU, left, 16);
  right += __shfl_xor_sync(0xffffffffU, right, 16);
  if (ty % 2 != 0) return;
  eighths[0] = sum_of_pair(left);
  eighths[1] = sum_of_pair(right);
  const Row<std::uint8_t, 2> row = {
      {static_cast<std::uint8_t>((eighths[0] + 32) >> 6), static_cast<std::uint8_t>((eighths[1] + 32) >> 6)}};
  store_row<std::uint8_t, kWhole>(out, plane, x, y, row);
}

// Level 3, of which each thread has half a texel's rows; valid in threads of even rows.
template <class T, int kQ, bool kWhole>
__device__ __forceinline__ void store_eighths(const OutLevel<T>& out, T* plane, int col, int row, int tx, int ty,
                                              const CarryOf<T> (&carried)[kQ], int level,
                                              CarryOf<T> (&eighths)[8][8 * kQ]) {
  const int y = row * 8 + ty / 2;
  if constexpr (std::is_same_v<T, std::uint8_t> && kQ == 4) {
    if (level == 3)
      return store_byte_eighths<kWhole>(out, plane, col * 32 + tx * 2, y, ty, carried, &eighths[ty / 2][tx * 2]);
  }
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

// `t`: which of the block's kQ texels of the last level.
template <class T, class In, int kQ>
__device__ __forceinline__ void carry_on(const PassArgs<T, In>& args, const ChannelLevels<T, kQ>& channel, int t) {
  const int x = block_col(args) * kQ + t;
  const int y = block_row(args);
  if (args.carried == nullptr || x >= args.carried_width || y >= args.carried_height) return;
  const std::int64_t row = static_cast<std::int64_t>(channel.number) * args.carried_height + y;
  args.carried[row * args.carried_width + x] = channel.shared->last[0][t];
}

// A channel of several, which stand side by side.
template <class T, int kQ>
__device__ __forceinline__ ChannelLevels<T, kQ> channel_at(const ChannelLevels<T, kQ>& first, int g) {
  return {first.shared + g, {first.plane.b, first.plane.c + g}, first.number + static_cast<unsigned>(g)};
}

// Levels 4 to 6 of the block, of `count` channels from `first` on, kGroup at most: a thread makes one texel of one.
// Called by all threads, after a barrier.
template <class T, class In, int kGroup, int kQ>
__device__ __forceinline__ void block_levels(const PassArgs<T, In>& args, const ChannelLevels<T, kQ>& first,
                                             int count) {
  static_assert(kGroup * 4 * kQ <= 32);  // levels 5 and 6 are one warp's
  const int bx = block_col(args) * kQ;
  const int by = block_row(args);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread / (16 * kQ) < count) {
    const ChannelLevels<T, kQ> channel = channel_at(first, thread / (16 * kQ));
    join_shared<T, 4 * kQ, 4>(channel.shared->eighths, channel.shared->sixteenths, args.out[3],
                              plane_of(args.out[3], channel.plane), bx * 4, by * 4, args.below + 4, thread % (16 * kQ));
  }
  if (args.count == 4) return;
  __syncthreads();
  if (thread >= 32) return;
  if (thread / (4 * kQ) < count) {
    const ChannelLevels<T, kQ> channel = channel_at(first, thread / (4 * kQ));
    join_shared<T, 2 * kQ, 2>(channel.shared->sixteenths, channel.shared->thirtyseconds, args.out[4],
                              plane_of(args.out[4], channel.plane), bx * 2, by * 2, args.below + 5, thread % (4 * kQ));
  }
  if (args.count == 5) return;
  __syncwarp();
  if (thread / kQ < count) {
    const ChannelLevels<T, kQ> channel = channel_at(first, thread / kQ);
    join_shared<T, kQ, 1>(channel.shared->thirtyseconds, channel.shared->last, args.out[5],
                          plane_of(args.out[5], channel.plane), bx, by, args.below + 6, thread % kQ);
    carry_on(args, channel, thread % kQ);
  }
}

// The levels of a thread's own quads of one channel; level 3 stays in shared memory.
template <class T, class In, int kQ, bool kWhole>
__device__ __forceinline__ void own_levels(const PassArgs<T, In>& args, const Words<In> (&rows)[kQ][4],
                                           const ChannelLevels<T, kQ>& channel) {
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  const int x = (block_col(args) * 16 + tx) * 4 * kQ;
  const int y = block_row(args) * kTile + ty * 4;
  const PlaneIndex plane = channel.plane;
  OwnLevels<T, kQ> own;
  if constexpr (std::is_same_v<In, std::uint8_t>) {
    own = join_bytes<kQ>(rows);
  } else {
    own = join_own<T, In, kQ>(rows, args.below);
  }
  T* first = plane_of(args.out[0], plane);
  store_row<T, kWhole>(args.out[0], first, x / 2, y / 2, own.half[0]);
  store_row<T, kWhole>(args.out[0], first, x / 2, y / 2 + 1, own.half[1]);
  if (args.count == 1) return;
  store_row<T, kWhole>(args.out[1], plane_of(args.out[1], plane), x / 4, y / 4, own.quarter);
  if (args.count == 2) return;
  store_eighths<T, kQ, kWhole>(args.out[2], plane_of(args.out[2], plane), block_col(args), block_row(args), tx, ty,
                               own.carried, args.below + 3, channel.shared->eighths);
}

// All levels of the block, of `count` channels. Called by all its threads, with a barrier before the next call.
template <class T, class In, bool kWhole, int kQ, int kGroup>
__device__ __forceinline__ void make_levels(const PassArgs<T, In>& args, const Words<In> (&rows)[kGroup][kQ][4],
                                            const ChannelLevels<T, kQ> (&channels)[kGroup], int count) {
#pragma unroll
  for (int g = 0; g < kGroup; ++g) {
    if (g < count) own_levels<T, In, kQ, kWhole>(args, rows[g], channels[g]);
  }
  if (args.count <= 3) return;
  __syncthreads();
  block_levels<T, In, kGroup>(args, channels[0], count);
}

}  // namespace saccade::tensor::cuda
