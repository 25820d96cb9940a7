// The CUDA backend on the card: fused update, staged stages, sampling, uploads from the host. Each iteration is timed
// by a pair of events around its work in the stream; the counters p50_us and p90_us are over all iterations. Frames
// rotate among several, so that what is read was not just read.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gpu/cuda_buffer.h"
#include "gpu/cuda_error.h"
#include "gpu/cuda_stream.h"
#include "kernels/cuda/cuda_pyramid.h"
#include "kernels/cuda/cuda_tile_differ.h"

namespace saccade {
namespace {

constexpr int kIterations = 300;
constexpr int kWarmUp = 20;
constexpr int kPatches = 273;
constexpr int kPatchSize = 16;

bool have_card(benchmark::State& state) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  static_cast<void>(cudaGetLastError());
  state.SkipWithError("no CUDA device");
  return false;
}

// NV12 in `space`; tiles of which about `percent` in 100 alternate between two contents, chosen at random.
struct Clip {
  Clip(int width, int height, int percent, MemorySpace space, bool pinned, int frames);
  const FrameView& frame(int i) const { return views[static_cast<std::size_t>(i) % views.size()]; }

  std::vector<CudaBuffer> device;
  std::vector<PinnedBuffer> page_locked;
  std::vector<std::vector<std::uint8_t>> pageable;
  std::vector<FrameView> views;
  Damage damage;  // between any two neighbours
};

void flip_tile(std::vector<std::uint8_t>& bytes, std::size_t pitch, int height, int x, int y, int rows) {
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < kTilePx; ++i)
      bytes[static_cast<std::size_t>(y + j) * pitch + static_cast<std::size_t>(x + i)] ^= 0x55;
  }
  const std::size_t chroma = static_cast<std::size_t>(height) * pitch;
  for (int j = 0; j < rows / 2; ++j) {
    for (int i = 0; i < kTilePx; ++i) {
      bytes[chroma + static_cast<std::size_t>(y / 2 + j) * pitch + static_cast<std::size_t>(x + i)] ^= 0x33;
    }
  }
}

Clip::Clip(int width, int height, int percent, MemorySpace space, bool pinned, int frames) {
  std::mt19937 rng(1);
  const auto pitch = static_cast<std::size_t>((width + 255) / 256 * 256);
  std::vector<std::uint8_t> bytes(pitch * static_cast<std::size_t>(height) * 3 / 2);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(rng() >> 24);
  const PyramidLayout layout = make_pyramid_layout(width, height, TextureFormat::kYuv8);
  damage = Damage(layout.tiles);
  std::vector<int> order(static_cast<std::size_t>(layout.tiles.count()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), rng);
  order.resize(order.size() * static_cast<std::size_t>(percent) / 100);
  for (const int index : order) damage.set(index);
  for (int f = 0; f < frames; ++f) {
    const std::uint8_t* base = nullptr;
    if (space == MemorySpace::kCuda) {
      device.emplace_back(bytes.size());
      cuda_check(cudaMemcpy(device.back().data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
      base = device.back().data();
    } else if (pinned) {
      page_locked.emplace_back(bytes.size());
      std::copy(bytes.begin(), bytes.end(), page_locked.back().data());
      base = page_locked.back().data();
    } else {
      pageable.push_back(bytes);
      base = pageable.back().data();
    }
    FrameView view;
    view.layout = PixelLayout::kNv12;
    view.space = space;
    view.width_px = width;
    view.height_px = height;
    view.planes[0] = {base, static_cast<std::ptrdiff_t>(pitch)};
    view.planes[1] = {base + pitch * static_cast<std::size_t>(height), static_cast<std::ptrdiff_t>(pitch)};
    views.push_back(view);
    for (const int index : order) {
      const int y = index / layout.tiles.cols * kTilePx;
      flip_tile(bytes, pitch, height, index % layout.tiles.cols * kTilePx, y, std::min(kTilePx, height - y));
    }
  }
}

// Rings of 16x16 patches around the centre, lod 0 to 6, as the nested lattice has them: about 273.
PatchPlan make_plan(int width, int height) {
  PatchPlan plan;
  plan.patch_size = kPatchSize;
  for (int n = 0; n < kPatches; ++n) {
    Patch patch;
    patch.lod = static_cast<float>(n * 7 / kPatches);
    const auto column = static_cast<float>(n % 7);
    const auto row = static_cast<float>(n / 7 % 6);
    patch.x_px = static_cast<float>(width) * (column + 0.5f) / 7.0f;
    patch.y_px = static_cast<float>(height) * (row + 0.5f) / 6.0f;
    patch.coverage = patch_coverage(patch, kPatchSize, width, height);
    plan.patches.push_back(patch);
  }
  return plan;
}

void report(benchmark::State& state, std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["p90_us"] = us[us.size() * 9 / 10];
}

// Runs `work(i)` between events, one after the other: what the host does between them counts.
template <typename F>
void measure(benchmark::State& state, CudaPyramid& pyramid, F&& work) {
  auto* stream = static_cast<cudaStream_t>(pyramid.stream());
  CudaEvent begin(CudaEvent::Kind::kTiming);
  CudaEvent end(CudaEvent::Kind::kTiming);
  std::vector<double> us;
  int i = 0;
  for (; i < kWarmUp; ++i) work(i);
  pyramid.wait();
  for (auto _ : state) {
    begin.record(stream);
    work(i++);
    end.record(stream);
    end.wait();
    us.push_back(static_cast<double>(end.since_ms(begin)) * 1e3);
    state.SetIterationTime(us.back() * 1e-6);
  }
  report(state, us);
}

// The same with the stream held back until a batch is queued, so that only the card's own time is read.
template <typename F>
void measure_queued(benchmark::State& state, CudaPyramid& pyramid, F&& work) {
  constexpr int kBatch = 20;
  auto* stream = static_cast<cudaStream_t>(pyramid.stream());
  std::vector<CudaEvent> marks;
  for (int k = 0; k < 2 * kBatch; ++k) marks.emplace_back(CudaEvent::Kind::kTiming);
  std::vector<double> us;
  std::atomic<bool> released{false};
  const auto hold = [](void* flag) {
    while (!static_cast<std::atomic<bool>*>(flag)->load()) {
    }
  };
  int i = 0;
  int next = kBatch;  // of the batch
  for (; i < kWarmUp; ++i) work(i);
  pyramid.wait();
  for (auto _ : state) {
    if (next == kBatch) {
      released = false;
      cuda_check(cudaLaunchHostFunc(stream, hold, &released), "cudaLaunchHostFunc");
      for (int k = 0; k < kBatch; ++k) {
        marks[static_cast<std::size_t>(2 * k)].record(stream);
        work(i++);
        marks[static_cast<std::size_t>(2 * k + 1)].record(stream);
      }
      released = true;
      pyramid.wait();
      next = 0;
    }
    const auto k = static_cast<std::size_t>(next++);
    us.push_back(static_cast<double>(marks[2 * k + 1].since_ms(marks[2 * k])) * 1e3);
    state.SetIterationTime(us.back() * 1e-6);
  }
  report(state, us);
}

int frames_for(int height) { return height > 1500 ? 6 : 12; }

enum Work : int {
  kUpdate,
  kUpdateSample,
  kUpdateSampleExact,
  kUpdateSampleWaited,
  kStagedUpload,
  kStagedMips,
  kSampleOnly,
  kEmpty
};

bool updates_and_samples(Work work) {
  return work == kUpdateSample || work == kUpdateSampleExact || work == kUpdateSampleWaited;
}

// Args: width, height, percent. Only the work on the card: nothing is read back.
void BM_Cuda(benchmark::State& state, Work work) {
  if (!have_card(state)) return;
  const int width = static_cast<int>(state.range(0));
  const int height = static_cast<int>(state.range(1));
  const Clip clip(width, height, static_cast<int>(state.range(2)), MemorySpace::kCuda, false, frames_for(height));
  CudaPyramid pyramid(make_pyramid_layout(width, height, TextureFormat::kYuv8));
  pyramid.set_sampling(work == kUpdateSampleExact ? CudaPyramid::Sampling::kExact : CudaPyramid::Sampling::kHardware);
  pyramid.set_staged(work == kStagedUpload || work == kStagedMips);
  const PatchPlan plan = make_plan(width, height);
  const ColorSpec color;
  pyramid.update_async(clip.frame(clip.views.size() > 1 ? 1 : 0), {}, true);
  pyramid.sample_on_card(plan, color, {});
  const auto run = [&](int i) {
    if (work == kUpdate || updates_and_samples(work)) {
      pyramid.update_on_card(clip.frame(i), {}, false);
    }
    if (work == kStagedUpload || work == kStagedMips) pyramid.upload_async(clip.frame(i), clip.damage);
    if (work == kStagedMips) pyramid.refresh_mips(clip.damage);
    if (work == kSampleOnly || updates_and_samples(work)) {
      pyramid.sample_on_card(plan, color, {});
    }
  };
  // The staged form sends its damage from the host, so it cannot be queued ahead.
  if (work == kStagedUpload || work == kStagedMips || work == kUpdateSampleWaited) {
    measure(state, pyramid, run);
  } else {
    measure_queued(state, pyramid, run);
  }
}

// With the damage and the u8 patches back in host memory.
void BM_CudaRoundTrip(benchmark::State& state) {
  if (!have_card(state)) return;
  const int width = static_cast<int>(state.range(0));
  const int height = static_cast<int>(state.range(1));
  const Clip clip(width, height, static_cast<int>(state.range(2)), MemorySpace::kCuda, false, frames_for(height));
  CudaPyramid pyramid(make_pyramid_layout(width, height, TextureFormat::kYuv8));
  const PatchPlan plan = make_plan(width, height);
  PatchBatch batch(plan.count(), kPatchSize, {});
  pyramid.update_async(clip.frame(1), {}, true);
  measure(state, pyramid, [&](int i) {
    pyramid.update_async(clip.frame(i), {}, false);
    pyramid.sample_async(plan, {}, {});
    benchmark::DoNotOptimize(pyramid.finish_update().count());
    pyramid.finish_sample(batch);
  });
}

enum Source : int { kPinned, kPageable, kPinnedWhole };

// A frame in host memory with known damage, to patches in device memory; host work between the events counts.
void BM_CudaFromHost(benchmark::State& state, Source source) {
  if (!have_card(state)) return;
  const int width = static_cast<int>(state.range(0));
  const int height = static_cast<int>(state.range(1));
  const Clip clip(width, height, static_cast<int>(state.range(2)), MemorySpace::kHost, source != kPageable,
                  frames_for(height));
  CudaPyramid pyramid(make_pyramid_layout(width, height, TextureFormat::kYuv8));
  pyramid.set_sampling(CudaPyramid::Sampling::kHardware);
  const PatchPlan plan = make_plan(width, height);
  pyramid.update_async(clip.frame(1), {}, true);
  measure(state, pyramid, [&](int i) {
    if (source == kPinnedWhole) {
      pyramid.update_on_card(clip.frame(i), {}, false);
    } else {
      pyramid.upload_async(clip.frame(i), clip.damage);
    }
    pyramid.sample_on_card(plan, {}, {});
  });
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const auto& [w, h] : {std::pair{1280, 720}, {1920, 1080}, {3840, 2160}}) {
    for (const int percent : {1, 10, 100}) b->Args({w, h, percent});
  }
  b->Iterations(kIterations)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(BM_Cuda, empty, kEmpty)
    ->Args({1920, 1080, 10})
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Cuda, fused, kUpdate)->Apply(sizes);
BENCHMARK_CAPTURE(BM_Cuda, fused_sample, kUpdateSample)->Apply(sizes);
BENCHMARK_CAPTURE(BM_Cuda, fused_sample_exact, kUpdateSampleExact)->Apply(sizes);
BENCHMARK_CAPTURE(BM_Cuda, fused_sample_waited, kUpdateSampleWaited)->Apply(sizes);
BENCHMARK_CAPTURE(BM_Cuda, sample, kSampleOnly)
    ->Args({1920, 1080, 10})
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Cuda, staged_upload, kStagedUpload)->Apply(sizes);
BENCHMARK_CAPTURE(BM_Cuda, staged_upload_mips, kStagedMips)->Apply(sizes);
BENCHMARK(BM_CudaRoundTrip)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaFromHost, pinned, kPinned)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaFromHost, pageable, kPageable)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaFromHost, pinned_whole, kPinnedWhole)->Apply(sizes);

}  // namespace
}  // namespace saccade
