// Gradients of a sampling. A block takes a patch (or a thread a point): texels get theirs by atomics, the patch's own
// are summed over the block in a fixed order.
#include "gpu/cuda/error.h"
#include "kernels/tensor/by_dtype.h"
#include "kernels/tensor/cuda/grid_taps.cuh"
#include "kernels/tensor/sample_back.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kUnitBits = 40;           // of the greatest gradient, where sums leave room for them
constexpr int kSumBits = 62;            // of a texel's sum, without its sign
constexpr double kMostSteps = 0x1p+62;  // 2^kSumBits

// The levels' gradients, to which texels add their parts.
template <class V>
struct Texels {
  const SampleGradients& gradients;
  LevelRange range;

  __device__ __forceinline__ bool wants(int level) const {
    return gradients.level[level] != nullptr && level >= range.first && level <= range.last;
  }
  __device__ __forceinline__ void add(int level, std::int64_t at, V value) const {
    if (gradients.fixed_point != 0) {
      const double steps = static_cast<double>(value) * gradients.unit[1];
      // An integer has no infinity: the unit itself stops being a number, and with it everything that is read by it.
      if (!(fabs(steps) < kMostSteps)) *const_cast<double*>(gradients.unit) = nan("");
      atomicAdd(static_cast<unsigned long long*>(gradients.level[level]) + at,
                static_cast<unsigned long long>(__double2ll_rn(steps)));
    } else {
      atomicAdd(static_cast<V*>(gradients.level[level]) + at, value);
    }
  }
};

// Sum over the block, in a fixed order: halves of the lanes, then the warps one by one. Valid in thread 0.
template <class V>
__device__ __forceinline__ void sum_over_block(PatchSums<V>* sums) {
  constexpr int kWords = sizeof(PatchSums<V>) / sizeof(V);
  __shared__ V warps[kThreads / 32][kWords];
  V* words = reinterpret_cast<V*>(sums);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    for (int step = 16; step > 0; step /= 2) words[k] += __shfl_down_sync(0xffffffffU, words[k], step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32][k] = words[k];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    for (int warp = 1; warp < kThreads / 32; ++warp) words[k] += warps[warp][k];
  }
}

// ---- Patches whose axes are the image's ----

constexpr int kMostSpan = 2 * kMostGridSize;  // texels of a level that a patch reads along an axis

// Which taps of an axis read each texel: taps rise, so those that read it first, or second, stand side by side.
struct Readers {
  std::uint8_t first_begin, first_end, second_begin, second_end;
};
struct AxisReaders {
  Readers of[kMostSpan];
  int base, count;  // the first texel that is read; how many
};

template <class V>
__device__ __forceinline__ void find_readers(const AxisTap<V>* taps, int size, int t, AxisReaders* readers) {
  const int base = taps[0].first;
  const int count = taps[size - 1].second - base + 1;
  if (t == 0) readers->base = base, readers->count = count;
  if (t >= count) return;
  int begin[2] = {0, 0};
  int end[2] = {0, 0};
  for (int i = 0; i < size; ++i) {
    begin[0] += taps[i].first - base < t ? 1 : 0;
    end[0] += taps[i].first - base <= t ? 1 : 0;
    begin[1] += taps[i].second - base < t ? 1 : 0;
    end[1] += taps[i].second - base <= t ? 1 : 0;
  }
  readers->of[t] = {static_cast<std::uint8_t>(begin[0]), static_cast<std::uint8_t>(end[0]),
                    static_cast<std::uint8_t>(begin[1]), static_cast<std::uint8_t>(end[1])};
}

// What a texel gets along one axis, of values `step` apart.
template <class V>
__device__ __forceinline__ V gather(const AxisTap<V>* taps, Readers readers, const V* values, int step) {
  V sum = V(0);
  for (int i = readers.first_begin; i < readers.first_end; ++i) {
    if ((taps[i].outside & 1) == 0) sum += (V(1) - taps[i].weight) * values[i * step];
  }
  for (int i = readers.second_begin; i < readers.second_end; ++i) {
    if ((taps[i].outside & 2) == 0) sum += taps[i].weight * values[i * step];
  }
  return sum;
}

template <class V>
struct GridBack {
  GridTaps<V> taps;
  AxisReaders x[2], y[2];
  V gradient[kMostGridSize * kMostGridSize];  // of one channel
  V rows[kMostGridSize * kMostSpan];          // gathered along x
};

// One channel's gradient of one of the two levels.
template <class V>
__device__ __forceinline__ void gather_level(const SampleArgs& args, const Texels<V>& texels, GridBack<V>& block,
                                             int which, int b, int c) {
  const PatchFrame<V>& patch = block.taps.patch;
  const int level = which == 0 ? patch.first : patch.second;
  const V share = which == 0 ? V(1) - patch.fraction : patch.fraction;
  if (!texels.wants(level) || !(share > V(0))) return;
  const AxisReaders& x = block.x[which];
  const AxisReaders& y = block.y[which];
  const int across = x.count <= 32 ? 32 : 64;
  const int tx = static_cast<int>(threadIdx.x) % across;
  const int first = static_cast<int>(threadIdx.x) / across;
  const int step = kThreads / across;
  if (tx < x.count) {
    for (int j = first; j < args.size; j += step) {
      block.rows[j * kMostSpan + tx] = gather(block.taps.x[which], x.of[tx], block.gradient + j * args.size, 1);
    }
  }
  __syncthreads();
  if (tx < x.count) {
    const LevelArray& array = args.level[level];
    const std::int64_t plane = (static_cast<std::int64_t>(b) * args.channels + c) * array.height;
    for (int ty = first; ty < y.count; ty += step) {
      const V value = gather(block.taps.y[which], y.of[ty], block.rows + tx, kMostSpan) * share;
      if (value != V(0)) texels.add(level, (plane + y.base + ty) * array.width + x.base + tx, value);
    }
  }
  __syncthreads();
}

// What a sample of one channel moves its patch.
template <class T>
__device__ __forceinline__ void add_places(const SampleArgs& args, const GridBack<Value<T>>& block, int b, int c, int i,
                                           int j, Value<T> gradient, PatchSums<Value<T>>* sums) {
  using V = Value<T>;
  const PatchFrame<V>& patch = block.taps.patch;
  V value[2];
  Vec2<V> slope[2];
#pragma unroll
  for (int which = 0; which < 2; ++which) {
    const int level = which == 0 ? patch.first : patch.second;
    const LevelArray& array = args.level[level];
    AxisTap<V> x = block.taps.x[which][i];
    AxisTap<V> y = block.taps.y[which][j];
    x.first *= static_cast<int>(array.stride_x), x.second *= static_cast<int>(array.stride_x);
    y.first *= static_cast<int>(array.stride_y), y.second *= static_cast<int>(array.stride_y);
    V texels[4];
    grid_fetch(channel_of<T>(array, b, c), x, y, texels);
    const V scale = level_scale<V>(level);
    value[which] = bilinear(texels, x.weight, y.weight);
    slope[which] = {mix(texels[1] - texels[0], texels[3] - texels[2], y.weight) * scale,
                    mix(texels[2] - texels[0], texels[3] - texels[1], x.weight) * scale};
  }
  const V along_x = gradient * mix(slope[0].x, slope[1].x, patch.fraction);
  const V along_y = gradient * mix(slope[0].y, slope[1].y, patch.fraction);
  sums->center.x += along_x;
  sums->center.y += along_y;
  sums->pitch += along_x * sample_offset<V>(i, args.size) + along_y * sample_offset<V>(j, args.size);
  sums->fraction += gradient * (value[1] - value[0]);
}

template <class T, bool kPlaces>
__global__ void __launch_bounds__(kThreads)
    grid_back_kernel(const __grid_constant__ SampleArgs args, const __grid_constant__ SampleGradients gradients,
                     const LevelRange range) {
  using V = Value<T>;
  __shared__ GridBack<V> block;
  const int b = static_cast<int>(blockIdx.x) / args.count;
  const int n = static_cast<int>(blockIdx.x) % args.count;
  make_grid_taps<V, true>(args, b, n, &block.taps);
  const PatchFrame<V> patch = block.taps.patch;
  if (!kPlaces && !touches(patch, range)) return;
  const int thread = static_cast<int>(threadIdx.x);
  {
    const int which = thread / kMostSpan % 2;
    const int t = thread % kMostSpan;
    if (thread < 2 * kMostSpan) find_readers(block.taps.x[which], args.size, t, &block.x[which]);
    if (thread >= 2 * kMostSpan) find_readers(block.taps.y[which], args.size, t, &block.y[which]);
  }
  const Texels<V> texels{gradients, range};
  const PatchArray& in = args.patches;
  PatchSums<V> sums = {};
  for (int c = 0; c < args.channels; ++c) {
    const std::int64_t at = b * in.stride_b + n * in.stride_n + c * in.stride_c;
    for (int s = thread; s < args.size * args.size; s += kThreads) {
      const int i = s % args.size;
      const int j = s / args.size;
      const V gradient =
          load_as<V>(in.data, in.dtype, at + j * in.stride_y + i * in.stride_x) * static_cast<V>(args.scale);
      block.gradient[s] = gradient;
      if constexpr (kPlaces) add_places<T>(args, block, b, c, i, j, gradient, &sums);
    }
    __syncthreads();
    gather_level(args, texels, block, 0, b, c);
    gather_level(args, texels, block, 1, b, c);
    __syncthreads();
  }
  if constexpr (kPlaces) {
    sum_over_block(&sums);
    if (thread == 0) write_patch(args, gradients, patch, sums, b, n);
  }
}

// ---- All others ----

template <class T, bool kPlaces>
__global__ void __launch_bounds__(kThreads)
    patches_back_kernel(const __grid_constant__ SampleArgs args, const __grid_constant__ SampleGradients gradients,
                        const LevelRange range) {
  using V = Value<T>;
  const int b = static_cast<int>(blockIdx.x) / args.count;
  const int n = static_cast<int>(blockIdx.x) % args.count;
  const PatchFrame<V> patch = patch_at<V>(args, b, n);
  if (!kPlaces && !touches(patch, range)) return;
  PatchSums<V> sums = {};
  const Texels<V> texels{gradients, range};
  for (int s = static_cast<int>(threadIdx.x); s < args.size * args.size; s += kThreads) {
    sample_back<T, kPlaces>(args, texels, patch, b, n, s % args.size, s / args.size, &sums);
  }
  if constexpr (kPlaces) {
    sum_over_block(&sums);
    if (threadIdx.x == 0) write_patch(args, gradients, patch, sums, b, n);
  }
}

template <class T, bool kPlaces>
__global__ void __launch_bounds__(kThreads)
    points_back_kernel(const __grid_constant__ SampleArgs args, const __grid_constant__ SampleGradients gradients,
                       const LevelRange range) {
  using V = Value<T>;
  const long long point = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (point >= static_cast<long long>(args.batch) * args.count) return;
  const int b = static_cast<int>(point / args.count);
  const int n = static_cast<int>(point % args.count);
  const PatchFrame<V> patch = patch_at<V>(args, b, n);
  PatchSums<V> sums = {};
  const Texels<V> texels{gradients, range};
  sample_back<T, kPlaces>(args, texels, patch, b, n, 0, 0, &sums);
  if constexpr (kPlaces) write_patch(args, gradients, patch, sums, b, n);
}

template <class T, bool kPlaces>
void launch(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, cudaStream_t stream) {
  const long long patches = static_cast<long long>(args.batch) * args.count;
  if (args.size == 1) {
    const auto blocks = static_cast<unsigned>((patches + kThreads - 1) / kThreads);
    points_back_kernel<T, kPlaces><<<blocks, kThreads, 0, stream>>>(args, gradients, range);
  } else if (takes_grid(args)) {
    grid_back_kernel<T, kPlaces><<<static_cast<unsigned>(patches), kThreads, 0, stream>>>(args, gradients, range);
  } else {
    patches_back_kernel<T, kPlaces><<<static_cast<unsigned>(patches), kThreads, 0, stream>>>(args, gradients, range);
  }
}

template <class T>
void launch(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, cudaStream_t stream) {
  const bool places = gradients.centers != nullptr || gradients.lod != nullptr || gradients.direction != nullptr;
  if (places) {
    launch<T, true>(args, gradients, range, stream);
  } else {
    launch<T, false>(args, gradients, range, stream);
  }
}

// The greatest |gradient|, as bits of a double: comparable as integers.
__global__ void __launch_bounds__(kThreads) greatest_kernel(const PatchArray gradient, int count, int channels,
                                                            int size, long long total, unsigned long long* bits) {
  double most = 0;
  for (long long k = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; k < total;
       k += static_cast<long long>(gridDim.x) * kThreads) {
    long long rest = k;
    const long long x = rest % size;
    rest /= size;
    const long long y = rest % size;
    rest /= size;
    const long long c = rest % channels;
    rest /= channels;
    const long long at = rest / count * gradient.stride_b + rest % count * gradient.stride_n + c * gradient.stride_c +
                         y * gradient.stride_y + x * gradient.stride_x;
    const double value = fabs(load_as<double>(gradient.data, gradient.dtype, at));
    if (value > most && isfinite(value)) most = value;
  }
  for (int step = 16; step > 0; step /= 2) most = fmax(most, __shfl_xor_sync(0xffffffffU, most, step));
  if (threadIdx.x % 32 == 0) atomicMax(bits, static_cast<unsigned long long>(__double_as_longlong(most)));
}

// The unit and its inverse. `bits`: of the greatest gradient in steps. The least unit has a finite inverse.
__global__ void unit_kernel(double* unit, int bits) {
  const double most = __longlong_as_double(*reinterpret_cast<long long*>(unit + 1));
  unit[0] = most > 0 ? scalbn(1.0, max(ilogb(most) + 1 - bits, -1022)) : 1.0;
  unit[1] = 1.0 / unit[0];
}

// So many bits that all samples of a plane may add up in one texel.
int unit_bits(int count, int size) {
  const long long samples = static_cast<long long>(count) * size * size;
  int bits = kSumBits;
  for (long long room = 1; room < samples && bits > 1; room *= 2) --bits;
  return bits < kUnitBits ? bits : kUnitBits;
}

}  // namespace

void sample_backward(const SampleArgs& args, const SampleGradients& gradients, LevelRange range, void* stream_handle) {
  if (args.batch == 0 || args.count == 0 || args.channels == 0 || args.size == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  by_dtype(args.dtype, [&]<class T>(T) { launch<T>(args, gradients, range, stream); });
  cuda_check_launch("sample_backward", stream);
}

void gradient_unit(const PatchArray& gradient, int batch, int count, int channels, int size, double* unit,
                   void* stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  cuda_check(cudaMemsetAsync(unit, 0, 2 * sizeof(double), stream), "cudaMemsetAsync");
  const long long total = static_cast<long long>(batch) * count * channels * size * size;
  if (total > 0) {
    const auto blocks = static_cast<unsigned>(total < 1024LL * kThreads ? (total + kThreads - 1) / kThreads : 1024);
    greatest_kernel<<<blocks, kThreads, 0, stream>>>(gradient, count, channels, size, total,
                                                     reinterpret_cast<unsigned long long*>(unit + 1));
  }
  unit_kernel<<<1, 1, 0, stream>>>(unit, unit_bits(count, size));
  cuda_check_launch("gradient_unit", stream);
}

void clear(void* data, std::size_t bytes, void* stream) {
  cuda_check(cudaMemsetAsync(data, 0, bytes, static_cast<cudaStream_t>(stream)), "cudaMemsetAsync");
}

}  // namespace saccade::tensor::cuda
