// The fused update of a persistent texture: a block finds which of its tiles of 16 x 16 pixels changed, over all
// channels, then writes those to level 0 and rebuilds the levels of its whole part from what level 0 now holds.
#include <algorithm>
#include <type_traits>

#include "gpu/cuda/error.h"
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cuda/levels.cuh"
#include "kernels/tensor/update.h"

namespace saccade::tensor::cuda {
namespace {

template <class T>
struct UpdatePass {
  PassArgs<T, T> texture;
  T* level_0;
  const T* frame;  // null: level 0 is new already
  std::int64_t frame_b, frame_c;
  int frame_y, frame_x;
  int frame_together;
  int levels;
  UpdateMask mask;
  const std::uint8_t* mask_data;
  std::int64_t mask_b, mask_y, mask_x;
  Value<T> threshold;
  int min_samples;
  std::uint8_t* tiles;
  float* energy;
  int tile_cols, tile_rows;
  int first_batch;  // where the grid begins
};

constexpr int kQ = 1;  // quads of a thread: small blocks, since few of them have work

// Of a block: 4 x 4 tiles.
struct TileState {
  int over[4][4 * kQ];  // samples that differ, or pixels that a mask names
  int damaged[4][4 * kQ];
  float energy[16][16 * kQ];  // of the threads' quads
};

template <class T>
__device__ __forceinline__ void unpack(const Words<T>& words, T (&elements)[4]) {
  std::memcpy(elements, &words, sizeof elements);
}

// Where the threads' quads lie.
struct QuadPlace {
  int x, y;    // the thread's first pixel
  int tx, ty;  // thread
};

// The bits of a quad's pixels, row by row, that lie in the image.
template <class T>
__device__ __forceinline__ unsigned inside_bits(const PassArgs<T, T>& texture, int x, int y) {
  const int cols = min(max(texture.in_width - x, 0), 4);
  const int rows = min(max(texture.in_height - y, 0), 4);
  const unsigned row = (1U << cols) - 1U;
  return (row * 0x1111U) & ((1U << (4 * rows)) - 1U);
}

// Channels whose texels a thread holds at once: narrow ones all at once, where they are few.
template <class T>
constexpr int kGroup = sizeof(T) == 1   ? 4
                       : sizeof(T) == 2 ? 3
                                        : 1;

template <class T>
__device__ __forceinline__ PassArgs<T, T> frame_pass(const UpdatePass<T>& pass) {
  PassArgs<T, T> frame = pass.texture;
  frame.in_y = pass.frame_y;
  frame.in_x = pass.frame_x;
  frame.together = pass.frame_together;
  return frame;
}

// Of bytes, four at a time. `inside`: the quad's pixels in the image, as inside_bits() says.
__device__ __forceinline__ void compare_bytes(const Words<std::uint8_t> (&old_rows)[4],
                                              const Words<std::uint8_t> (&new_rows)[4], float threshold,
                                              unsigned inside, int* over, float* energy) {
  const unsigned most = (threshold < 255.0f ? static_cast<unsigned>(threshold) : 255U) * 0x01010101U;
  unsigned sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    // a bit for each pixel to a byte of ones
    const unsigned row = ((inside >> (4 * j) & 15U) * 0x00204081U & 0x01010101U) * 255U;
    const unsigned sizes = __vabsdiffu4(old_rows[j].word[0], new_rows[j].word[0]) & row;
    sum = __dp4a(sizes, 0x01010101U, sum);
    *over += __popc(__vcmpgtu4(sizes, most) & 0x01010101U);
  }
  *energy += static_cast<float>(sum);
}

template <class T>
__device__ __forceinline__ void compare_quad(const Words<T> (&old_rows)[4], const Words<T> (&new_rows)[4],
                                             Value<T> threshold, unsigned inside, int* over, Value<T>* energy) {
  using V = Value<T>;
  bool same = true;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (unsigned w = 0; w < sizeof(T); ++w) same = same && old_rows[j].word[w] == new_rows[j].word[w];
  }
  if (same) return;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    compare_bytes(old_rows, new_rows, threshold, inside, over, energy);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      T before[4];
      T after[4];
      unpack(old_rows[j], before);
      unpack(new_rows[j], after);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if ((inside >> (4 * j + i) & 1U) == 0 || same_bits(before[i], after[i])) continue;
        const V difference = load(after[i]) - load(before[i]);
        const V size = difference < V(0) ? -difference : difference;
        if (!(size <= threshold)) ++*over;  // what becomes not a number, or stops to be, differs
        *energy += size;
      }
    }
  }
}

// Counts the samples of a thread's quads that differ, and adds up by how much.
template <class T>
__device__ __forceinline__ void compare(const UpdatePass<T>& pass, const QuadPlace& at, int b, int* over,
                                        Value<T>* energy) {
  const PassArgs<T, T> frame = frame_pass(pass);
  for (int c = 0; c < pass.texture.channels; ++c) {
    Words<T> old_rows[kQ][4];
    Words<T> new_rows[kQ][4];
    load_rows<T, T, false>(pass.texture, pass.level_0 + b * pass.texture.in_b + c * pass.texture.in_c, at.x, at.y,
                           old_rows);
    load_rows<T, T, false>(frame, pass.frame + b * pass.frame_b + c * pass.frame_c, at.x, at.y, new_rows);
#pragma unroll
    for (int q = 0; q < kQ; ++q) {
      compare_quad(old_rows[q], new_rows[q], pass.threshold, inside_bits(pass.texture, at.x + 4 * q, at.y), &over[q],
                   &energy[q]);
    }
  }
}

// The pixels that a mask names, as bits; counts those in the image.
template <class T>
__device__ __forceinline__ void read_mask(const UpdatePass<T>& pass, const QuadPlace& at, int b, unsigned* bits,
                                          int* over) {
  const std::uint8_t* mask = pass.mask_data + b * pass.mask_b;
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    for (int k = 0; k < 16; ++k) {
      const int x = min(at.x + 4 * q + k % 4, pass.texture.in_width - 1);
      const int y = min(at.y + k / 4, pass.texture.in_height - 1);
      if (mask[y * pass.mask_y + x * pass.mask_x] != 0) bits[q] |= 1U << k;
    }
    over[q] = __popc(bits[q] & inside_bits(pass.texture, at.x + 4 * q, at.y));
  }
}

// Decides for each of the block's tiles. Returns whether any was damaged.
template <class T>
__device__ __forceinline__ bool decide(const UpdatePass<T>& pass, int b, TileState& tiles) {
  bool damaged = false;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < 16 * kQ) {
    const int i = thread % (4 * kQ);
    const int j = thread / (4 * kQ);
    const int col = block_col(pass.texture) * 4 * kQ + i;
    const int row = block_row(pass.texture) * 4 + j;
    if (col < pass.tile_cols && row < pass.tile_rows) {
      damaged = pass.mask == UpdateMask::kTiles
                    ? pass.mask_data[b * pass.mask_b + row * pass.mask_y + col * pass.mask_x] != 0
                    : tiles.over[j][i] > pass.min_samples;
      const std::int64_t at = (static_cast<std::int64_t>(b) * pass.tile_rows + row) * pass.tile_cols + col;
      pass.tiles[at] = damaged ? 1 : 0;
      if (pass.energy != nullptr) {
        float sum = 0;
        if (damaged && pass.mask == UpdateMask::kDiff) {
          for (int k = 0; k < 16; ++k) sum += tiles.energy[4 * j + k / 4][4 * i + k % 4];
        }
        pass.energy[at] = sum;
      }
    }
    tiles.damaged[j][i] = damaged ? 1 : 0;
  }
  return __syncthreads_or(damaged) != 0;
}

// Is the tile damaged that a quad's pixels come from? Those beyond the edge come from the last one.
template <class T>
__device__ __forceinline__ bool is_damaged(const UpdatePass<T>& pass, const TileState& tiles, int x, int y) {
  const int col = min(x / kTilePx, pass.tile_cols - 1) - block_col(pass.texture) * 4 * kQ;
  const int row = min(y / kTilePx, pass.tile_rows - 1) - block_row(pass.texture) * 4;
  return tiles.damaged[row][col] != 0;
}

template <class T, bool kWhole>
__device__ __forceinline__ void store_quad(const UpdatePass<T>& pass, T* plane, int x, int y, const Words<T> (&rows)[4],
                                           unsigned bits) {
  const PassArgs<T, T>& texture = pass.texture;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (y + j >= texture.in_height) continue;
    T* row = plane + (y + j) * texture.in_y;
    struct alignas(4 * sizeof(T)) Aligned {
      Words<T> words;
    };
    if constexpr (kWhole) {
      if (x < texture.in_width) *reinterpret_cast<Aligned*>(row + x) = {rows[j]};
      continue;
    }
    if (texture.together >= 4 && x + 4 <= texture.in_width && (bits >> (4 * j) & 15U) == 15U) {
      *reinterpret_cast<Aligned*>(row + x) = {rows[j]};
      continue;
    }
    T elements[4];
    unpack(rows[j], elements);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (x + i < texture.in_width && (bits >> (4 * j + i) & 1U) != 0) row[(x + i) * texture.in_x] = elements[i];
    }
  }
}

// Writes a thread's damaged pixels of a channel; `rows` then hold what level 0 does.
template <class T>
__device__ __forceinline__ void write_rows(const UpdatePass<T>& pass, const QuadPlace& at, int b, int c,
                                           const TileState& tiles, const unsigned* bits, Words<T> (&rows)[kQ][4]) {
  T* plane = pass.level_0 + b * pass.texture.in_b + c * pass.texture.in_c;
  load_rows<T, T, false>(pass.texture, plane, at.x, at.y, rows);
  if (pass.frame == nullptr) return;
  const PassArgs<T, T> frame = frame_pass(pass);
  Words<T> new_rows[kQ][4];
  load_rows<T, T, false>(frame, pass.frame + b * pass.frame_b + c * pass.frame_c, at.x, at.y, new_rows);
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    if (!is_damaged(pass, tiles, at.x + 4 * q, at.y)) continue;
    const unsigned chosen = pass.mask == UpdateMask::kPixels ? bits[q] : 0xffffU;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      T before[4];
      T after[4];
      unpack(rows[q][j], before);
      unpack(new_rows[q][j], after);
#pragma unroll
      for (int i = 0; i < 4; ++i) after[i] = (chosen >> (4 * j + i) & 1U) != 0 ? after[i] : before[i];
      std::memcpy(&rows[q][j], after, sizeof after);
    }
    store_quad<T, false>(pass, plane, at.x + 4 * q, at.y, rows[q], chosen);
  }
}

// Adds up what the threads counted, then decides: returns whether any tile was damaged. `over`, `energy`:
// of the thread alone.
template <class T>
__device__ __forceinline__ bool count_and_decide(const UpdatePass<T>& pass, const QuadPlace& at, int b, const int* over,
                                                 const Value<T>* energy, TileState& tiles) {
#pragma unroll
  for (int q = 0; q < kQ; ++q) {
    if (over[q] != 0) atomicAdd(&tiles.over[at.ty / 4][(at.tx * kQ + q) / 4], over[q]);
    tiles.energy[at.ty][at.tx * kQ + q] = static_cast<float>(energy[q]);
  }
  __syncthreads();
  return decide(pass, b, tiles);
}

template <class T>
__device__ __forceinline__ QuadPlace quad_place(const UpdatePass<T>& pass) {
  QuadPlace at;
  at.tx = static_cast<int>(threadIdx.x) % 16;
  at.ty = static_cast<int>(threadIdx.x) / 16;
  at.x = (block_col(pass.texture) * 16 + at.tx) * 4 * kQ;
  at.y = block_row(pass.texture) * kTile + at.ty * 4;
  return at;
}

template <class T>
__device__ __forceinline__ PlaneIndex plane_at(const UpdatePass<T>& pass, int b, int c) {
  return {pass.texture.dense ? 0 : b, pass.texture.dense ? b * pass.texture.channels + c : c};
}

__device__ __forceinline__ void clear_counts(TileState& tiles) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < 16 * kQ) tiles.over[thread / (4 * kQ)][thread % (4 * kQ)] = 0;
  __syncthreads();
}

// By a mask, or with many channels: one after the other, each read again when it is known what changed.
template <class T>
__global__ void __launch_bounds__(kThreads, 2) update_kernel(const __grid_constant__ UpdatePass<T> pass) {
  __shared__ TileState tiles;
  __shared__ SharedLevels<T, kQ> shared;
  const int b = pass.first_batch + static_cast<int>(blockIdx.z);
  const QuadPlace at = quad_place(pass);
  unsigned bits[kQ] = {};
  int over[kQ] = {};
  Value<T> energy[kQ] = {};
  clear_counts(tiles);
  if (pass.mask == UpdateMask::kPixels) read_mask(pass, at, b, bits, over);
  if (pass.mask == UpdateMask::kDiff) compare(pass, at, b, over, energy);
  if (!count_and_decide(pass, at, b, over, energy, tiles)) return;
  for (int c = 0; c < pass.texture.channels; ++c) {
    Words<T> rows[1][kQ][4];
    write_rows(pass, at, b, c, tiles, bits, rows[0]);
    if (pass.levels == 1) continue;
    const auto number = static_cast<unsigned>(b * pass.texture.channels + c);
    const ChannelLevels<T, kQ> channels[1] = {{&shared, plane_at(pass, b, c), number}};
    make_levels<T, T, false>(pass.texture, rows, channels, 1);
    __syncthreads();
  }
}

// Blocks at once on a multiprocessor: a frame of 1080p in bytes is 510 blocks, all of which then run at once on 132.
template <class T>
constexpr int kFewBlocks = sizeof(T) == 1 ? 4 : 3;

// Few narrow channels, compared: all are held in registers from the comparison to the last level. `kWhole`: as
// is_whole() says, and the frame's rows, too.
template <class T, bool kWhole>
__global__ void __launch_bounds__(kThreads, kFewBlocks<T>)
    update_few_kernel(const __grid_constant__ UpdatePass<T> pass) {
  constexpr int kMost = kGroup<T>;
  __shared__ TileState tiles;
  __shared__ SharedLevels<T, kQ> shared[kMost];
  const int b = pass.first_batch + static_cast<int>(blockIdx.z);
  const QuadPlace at = quad_place(pass);
  const PassArgs<T, T> frame = frame_pass(pass);
  const int count = pass.texture.channels;
  int over[kQ] = {};
  Value<T> energy[kQ] = {};
  Words<T> rows[kMost][kQ][4];
  Words<T> new_rows[kMost][kQ][4];
#pragma unroll
  for (int c = 0; c < kMost; ++c) {
    if (c >= count) continue;
    load_rows<T, T, kWhole>(pass.texture, pass.level_0 + b * pass.texture.in_b + c * pass.texture.in_c, at.x, at.y,
                            rows[c]);
    load_rows<T, T, kWhole>(frame, pass.frame + b * pass.frame_b + c * pass.frame_c, at.x, at.y, new_rows[c]);
  }
  clear_counts(tiles);
  const unsigned inside = inside_bits(pass.texture, at.x, at.y);
#pragma unroll
  for (int c = 0; c < kMost; ++c) {
    if (c < count) {
      compare_quad(rows[c][0], new_rows[c][0], pass.threshold, inside, &over[0], &energy[0]);
    }
  }
  if (!count_and_decide(pass, at, b, over, energy, tiles)) return;
  const bool damaged = is_damaged(pass, tiles, at.x, at.y);
  ChannelLevels<T, kQ> channels[kMost];
#pragma unroll
  for (int c = 0; c < kMost; ++c) {
    channels[c] = {&shared[c], plane_at(pass, b, c), static_cast<unsigned>(b * count + c)};
    if (c >= count || !damaged) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) rows[c][0][j] = new_rows[c][0][j];
    store_quad<T, kWhole>(pass, pass.level_0 + b * pass.texture.in_b + c * pass.texture.in_c, at.x, at.y, rows[c][0],
                          0xffffU);
  }
  if (pass.levels > 1) make_levels<T, T, kWhole>(pass.texture, rows, channels, count);
}

template <class T>
void launch(const UpdatePass<T>& pass, dim3 grid, cudaStream_t stream) {
  constexpr int kMost = kGroup<T>;
  const bool few = pass.mask == UpdateMask::kDiff && pass.texture.channels <= kMost;
  if constexpr (kMost > 1) {
    const bool whole = is_whole(pass.texture, kQ) && pass.frame_together >= 4 * kQ;
    if (few && whole) update_few_kernel<T, true><<<grid, kThreads, 0, stream>>>(pass);
    if (few && !whole) update_few_kernel<T, false><<<grid, kThreads, 0, stream>>>(pass);
  }
  if (kMost == 1 || !few) update_kernel<T><<<grid, kThreads, 0, stream>>>(pass);
}

template <class T>
void run(const UpdateArgs& args, cudaStream_t stream) {
  const ArrayView& base = args.texture.level[0];
  UpdatePass<T> pass = {};
  pass.texture = first_pass<T>(args.texture);
  pass.level_0 = static_cast<T*>(base.data);
  pass.frame = static_cast<const T*>(args.frame.data);
  pass.frame_b = args.frame.stride_b;
  pass.frame_c = args.frame.stride_c;
  pass.frame_y = static_cast<int>(args.frame.stride_y);
  pass.frame_x = static_cast<int>(args.frame.stride_x);
  pass.frame_together = args.frame.data == nullptr ? 1 : together_in(args.frame, 16);
  pass.levels = args.texture.levels;
  pass.mask = args.mask;
  pass.mask_data = args.mask_data;
  pass.mask_b = args.mask_b;
  pass.mask_y = args.mask_y;
  pass.mask_x = args.mask_x;
  pass.threshold = static_cast<Value<T>>(args.threshold);
  pass.min_samples = args.min_samples < 0 || args.mask == UpdateMask::kPixels ? 0 : args.min_samples;
  pass.tiles = args.tiles;
  pass.energy = args.energy;
  pass.tile_cols = tiles_across(base.width);
  pass.tile_rows = tiles_across(base.height);
  const int across = kTile * kQ;
  const int cols = (base.width + across - 1) / across;
  const int rows = (base.height + kTile - 1) / kTile;
  for (pass.first_batch = 0; pass.first_batch < base.batch; pass.first_batch += kMostBlocks) {
    const int deep = std::min(base.batch - pass.first_batch, kMostBlocks);
    for (pass.texture.first_row = 0; pass.texture.first_row < rows; pass.texture.first_row += kMostBlocks) {
      const int high = std::min(rows - pass.texture.first_row, kMostBlocks);
      launch(pass, dim3(static_cast<unsigned>(cols), static_cast<unsigned>(high), static_cast<unsigned>(deep)), stream);
    }
  }
  cuda_check_launch("update", stream);
  reduce_coarse(args.texture, stream);
}

}  // namespace

void update(const UpdateArgs& args, void* stream_handle) {
  const ArrayView& base = args.texture.level[0];
  if (base.batch == 0 || base.channels == 0 || base.width == 0 || base.height == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  by_dtype(base.dtype, [&]<class T>(T) { run<T>(args, stream); });
}

}  // namespace saccade::tensor::cuda
