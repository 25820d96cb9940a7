#include "gpu/cuda/error.h"
#include "kernels/cuda/places.h"

namespace saccade::cuda {
namespace {

using Clock = unsigned long long;

constexpr int kThreads = 1024;  // one block: there is nothing to gain from more, and no order to make between them
constexpr int kWarps = kThreads / 32;
constexpr int kCompareThreads = 64;

struct Counters {
  Clock now;
  Clock damaged_tiles;
  Clock tiles_written;  // padding included
  Clock patches_changed;
  Clock last_damaged_tiles;
};

struct NoteParams {
  const std::uint32_t* tiles;
  Clock* damaged_at;
  Counters* counters;
  int cols, rows;
  int extra_cols, extra_rows;  // of padding that repeats the last column and row
};

// Tiles are dealt to the threads; their counts are summed in shared memory.
__global__ void __launch_bounds__(kThreads) note_kernel(const __grid_constant__ NoteParams params) {
  __shared__ unsigned damaged, written;
  if (threadIdx.x == 0) damaged = written = 0;
  const Clock now = params.counters->now + 1;
  __syncthreads();
  unsigned own_damaged = 0, own_written = 0;
  for (int i = static_cast<int>(threadIdx.x); i < params.cols * params.rows; i += kThreads) {
    if (params.tiles[i] == 0) continue;
    params.damaged_at[i] = now;
    ++own_damaged;
    own_written += (i % params.cols == params.cols - 1 ? 1U + static_cast<unsigned>(params.extra_cols) : 1U) *
                   (i / params.cols == params.rows - 1 ? 1U + static_cast<unsigned>(params.extra_rows) : 1U);
  }
  if (own_damaged != 0) {
    atomicAdd(&damaged, own_damaged);
    atomicAdd(&written, own_written);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  params.counters->now = now;
  params.counters->damaged_tiles += damaged;
  params.counters->tiles_written += written;
  params.counters->last_damaged_tiles = damaged;
}

struct MarkParams {
  const PlaceRecord* places;
  const Clock* damaged_at;
  Clock* emitted;
  Counters* counters;
  std::uint8_t* changed;
  std::int32_t* damaged_tiles;
  int count;
  int cols;
};

__device__ __forceinline__ bool touched_since(const MarkParams& params, const PlaceRecord& record, Clock emitted,
                                              int lane) {
  const int width = record.col_end - record.col_begin;
  const int count = width * (record.row_end - record.row_begin);
  bool touched = false;
  for (int i = lane; i < count; i += 32) {
    const int col = record.col_begin + i % width, row = record.row_begin + i / width;
    touched |= params.damaged_at[row * params.cols + col] > emitted;
  }
  return __any_sync(0xffffffffU, touched ? 1 : 0) != 0;
}

// A warp a patch; its lanes share the tiles. All places are read before one is written: two patches of an emission may
// share an entry, of which one has just taken it from the other.
__global__ void __launch_bounds__(kThreads) mark_kernel(const __grid_constant__ MarkParams params) {
  __shared__ unsigned changed_count;
  if (threadIdx.x == 0) changed_count = 0;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned own_changed = 0;
  for (int n = static_cast<int>(threadIdx.x) / 32; n < params.count; n += kWarps) {
    const PlaceRecord record = params.places[n];
    bool changed = record.known == PlaceRecord::kFresh;
    if (record.known == PlaceRecord::kEmitted) {
      changed = touched_since(params, record, params.emitted[record.place], lane);
    }
    if (lane == 0) params.changed[n] = changed ? 1 : 0;
    own_changed += changed ? 1U : 0U;
  }
  if (lane == 0 && own_changed != 0) atomicAdd(&changed_count, own_changed);
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < params.count; n += kThreads) {
    params.emitted[params.places[n].place] = params.counters->now;
  }
  if (threadIdx.x != 0) return;
  params.counters->patches_changed += changed_count;
  if (params.damaged_tiles != nullptr) {
    *params.damaged_tiles = static_cast<std::int32_t>(params.counters->last_damaged_tiles);
  }
}

struct CompareParams {
  const PlaceRecord* places;
  const std::byte* patches;
  std::byte* kept;
  std::uint8_t* changed;
  Counters* counters;
  std::size_t patch_bytes;
};

// A block a patch. Word: what the patches' alignment and size allow.
template <typename Word>
__device__ __forceinline__ bool same(Word a, Word b) {
  return a == b;
}
template <>
__device__ __forceinline__ bool same(uint4 a, uint4 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

template <typename Word>
__global__ void __launch_bounds__(kCompareThreads) compare_kernel(const __grid_constant__ CompareParams params) {
  const PlaceRecord& record = params.places[blockIdx.x];
  if (record.slot < 0) return;
  if (record.slot_known != 0 && params.changed[blockIdx.x] == 0) return;
  const auto* now = reinterpret_cast<const Word*>(params.patches + blockIdx.x * params.patch_bytes);
  auto* kept = reinterpret_cast<Word*>(params.kept + static_cast<std::size_t>(record.slot) * params.patch_bytes);
  bool differs = false;
  for (std::size_t i = threadIdx.x; i < params.patch_bytes / sizeof(Word); i += kCompareThreads) {
    const Word word = now[i];
    if (record.slot_known != 0) differs |= !same(kept[i], word);
    kept[i] = word;
  }
  if (__syncthreads_or(differs ? 1 : 0) != 0 || record.slot_known == 0 || threadIdx.x != 0) return;
  params.changed[blockIdx.x] = 0;
  atomicAdd(&params.counters->patches_changed, ~Clock{0});  // one less
}

CudaBuffer zeros(int device, std::size_t size_bytes, cudaStream_t stream) {
  CudaBuffer buffer(device, size_bytes);
  cuda_check(cudaMemsetAsync(buffer.data(), 0, size_bytes, stream), "cudaMemsetAsync");
  return buffer;
}

std::int64_t bytes_of_tile(const PyramidLayout& layout) {
  std::int64_t bytes = 0;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    bytes += std::int64_t{plane.tile_size()} * plane.tile_size() * plane.texel_bytes();
  }
  return bytes;
}

}  // namespace

DevicePlaces::DevicePlaces(int device, const PyramidLayout& layout, cudaStream_t stream)
    : device_(device),
      tiles_(layout.tiles),
      padded_(layout.padded_tiles),
      tile_bytes_(bytes_of_tile(layout)),
      counters_(zeros(device, sizeof(Counters), stream)),
      damaged_at_(zeros(device, static_cast<std::size_t>(layout.tiles.count()) * sizeof(Clock), stream)),
      totals_host_(device, sizeof(Counters)) {}

void DevicePlaces::reserve(std::size_t places, cudaStream_t stream) {
  const std::size_t bytes = places * sizeof(Clock);
  if (emitted_.size_bytes() < bytes) emitted_ = zeros(device_, bytes, stream);
}

void DevicePlaces::note(const std::uint32_t* tiles, cudaStream_t stream) {
  const NoteParams params{tiles,       damaged_at_.as<Clock>(),    counters_.as<Counters>(),  tiles_.cols,
                          tiles_.rows, padded_.cols - tiles_.cols, padded_.rows - tiles_.rows};
  note_kernel<<<1, kThreads, 0, stream>>>(params);
  cuda_check_launch("note_kernel", stream);
}

void DevicePlaces::reserve_slots(std::size_t bytes) {
  if (kept_.size_bytes() < bytes) kept_ = CudaBuffer(device_, bytes);
}

std::uint8_t* DevicePlaces::marks(const EmissionFacts& facts) {
  if (facts.changed != nullptr) return facts.changed;
  const auto count = static_cast<std::size_t>(facts.count);
  if (marks_.size_bytes() < count) marks_ = CudaBuffer(device_, count);
  return marks_.as<std::uint8_t>();
}

void DevicePlaces::compare(const EmissionFacts& facts, const std::byte* patches, std::size_t patch_bytes,
                           cudaStream_t stream) {
  const CompareParams params{facts.places, patches, kept_.as<std::byte>(), marks(facts), counters_.as<Counters>(),
                             patch_bytes};
  const bool wide = patch_bytes % sizeof(uint4) == 0 && reinterpret_cast<std::uintptr_t>(patches) % sizeof(uint4) == 0;
  const auto kernel = wide ? compare_kernel<uint4> : compare_kernel<unsigned char>;
  kernel<<<static_cast<unsigned>(facts.count), kCompareThreads, 0, stream>>>(params);
  cuda_check_launch("compare_kernel", stream);
}

void DevicePlaces::mark(const EmissionFacts& facts, cudaStream_t stream) {
  const MarkParams params{facts.places, damaged_at_.as<Clock>(), emitted_.as<Clock>(), counters_.as<Counters>(),
                          marks(facts), facts.damaged_tiles,     facts.count,          tiles_.cols};
  mark_kernel<<<1, kThreads, 0, stream>>>(params);
  cuda_check_launch("mark_kernel", stream);
}

DeviceTotals DevicePlaces::totals(cudaStream_t stream) {
  cuda_check(cudaMemcpyAsync(totals_host_.data(), counters_.data(), sizeof(Counters), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");
  cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const Counters& counters = *totals_host_.as<Counters>();
  return {.damaged_tiles = static_cast<std::int64_t>(counters.damaged_tiles),
          .bytes_written = static_cast<std::int64_t>(counters.tiles_written) * tile_bytes_,
          .patches_changed = static_cast<std::int64_t>(counters.patches_changed)};
}

}  // namespace saccade::cuda
