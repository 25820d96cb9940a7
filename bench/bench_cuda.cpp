// The CUDA backend on the device: fused update, staged stages, sampling, uploads from the host. Each iteration is timed
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

#include "bench/cuda_clip.h"
#include "gpu/cuda/buffer.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/texture.h"
#include "kernels/cuda/texture_queue.h"

namespace saccade::bench {
namespace {

// Runs `work(i)` between events, one after the other: what the host does between them counts.
template <typename F>
void measure(benchmark::State& state, const CudaTextureQueue& queue, F&& work) {
  cudaStream_t const stream = queue.stream();
  CudaEvent begin(0, CudaEvent::Kind::kTiming);
  CudaEvent end(0, CudaEvent::Kind::kTiming);
  std::vector<double> us;
  int i = 0;
  for (; i < kWarmUp; ++i) work(i);
  queue.wait();
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

// The same with the stream held back until a batch is queued, so that only the device's own time is read.
template <typename F>
void measure_queued(benchmark::State& state, const CudaTextureQueue& queue, F&& work) {
  constexpr int kBatch = 20;
  cudaStream_t const stream = queue.stream();
  std::vector<CudaEvent> marks;
  for (int k = 0; k < 2 * kBatch; ++k) marks.emplace_back(0, CudaEvent::Kind::kTiming);
  std::vector<double> us;
  std::atomic<bool> released{false};
  struct Release {  // also where queueing fails: the stream would be held for ever
    std::atomic<bool>& flag;
    cudaStream_t stream;
    ~Release() {
      flag = true;
      static_cast<void>(cudaStreamSynchronize(stream));  // a failure shows in the events
    }
  };
  const auto hold = [](void* flag) {
    while (!static_cast<std::atomic<bool>*>(flag)->load()) {
    }
  };
  int i = 0;
  int next = kBatch;  // of the batch
  for (; i < kWarmUp; ++i) work(i);
  queue.wait();
  for (auto _ : state) {
    if (next == kBatch) {
      released = false;
      cuda_check(cudaLaunchHostFunc(stream, hold, &released), "cudaLaunchHostFunc");
      const Release release{released, stream};
      for (int k = 0; k < kBatch; ++k) {
        marks[static_cast<std::size_t>(2 * k)].record(stream);
        work(i++);
        marks[static_cast<std::size_t>(2 * k + 1)].record(stream);
      }
      next = 0;
    }
    const auto k = static_cast<std::size_t>(next++);
    us.push_back(static_cast<double>(marks[2 * k + 1].since_ms(marks[2 * k])) * 1e3);
    state.SetIterationTime(us.back() * 1e-6);
  }
  report(state, us);
}

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

// Args: width, height, percent. Only the work on the device: nothing is read back.
void BM_Cuda(benchmark::State& state, Work work) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kCuda);
  CudaTexture pyramid(clip.layout(), {{}, work == kStagedUpload || work == kStagedMips, 0});
  CudaTextureQueue queue(pyramid);
  if (work != kUpdateSampleExact) queue.use_texture_unit();
  const PatchPlan plan = clip.plan();
  const ColorSpec color;
  pyramid.update(clip.frame(clip.views.size() > 1 ? 1 : 0));
  queue.sample(plan, color, {});
  const auto run = [&](int i) {
    if (work == kUpdate || updates_and_samples(work)) {
      pyramid.update(clip.frame(i));
    }
    if (work == kStagedUpload || work == kStagedMips) queue.upload(clip.frame(i), clip.damage);
    if (work == kStagedMips) pyramid.refresh_mips(clip.damage);
    if (work == kSampleOnly || updates_and_samples(work)) {
      queue.sample(plan, color, {});
    }
  };
  // The staged form sends its damage from the host, so it cannot be queued ahead.
  if (work == kStagedUpload || work == kStagedMips || work == kUpdateSampleWaited) {
    measure(state, queue, run);
  } else {
    measure_queued(state, queue, run);
  }
}

// With the damage and the u8 patches back in host memory.
void BM_CudaRoundTrip(benchmark::State& state) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kCuda);
  CudaTexture pyramid(clip.layout());
  const PatchPlan plan = clip.plan();
  PatchBatch batch = pyramid.make_batch(plan.count(), kPatchSize, {});
  pyramid.update(clip.frame(1));
  measure(state, CudaTextureQueue(pyramid), [&](int i) {
    pyramid.update(clip.frame(i));
    pyramid.submit(plan, {}, {}, batch);
    benchmark::DoNotOptimize(pyramid.damage().count());
    batch.wait();
  });
}

enum Source : int { kPinned, kPageable, kPinnedWhole };

// A frame in host memory with known damage, to patches in device memory; host work between the events counts.
void BM_CudaFromHost(benchmark::State& state, Source source) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kHost, source != kPageable);
  CudaTexture pyramid(clip.layout());
  CudaTextureQueue queue(pyramid);
  queue.use_texture_unit();
  const PatchPlan plan = clip.plan();
  pyramid.update(clip.frame(1));
  measure(state, queue, [&](int i) {
    if (source == kPinnedWhole) {
      pyramid.update(clip.frame(i));
    } else {
      queue.upload(clip.frame(i), clip.damage);
    }
    queue.sample(plan, {}, {});
  });
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
}  // namespace saccade::bench
