// Ways to the device side by side: uploads by pixel buffers of OpenGL and direct, interop, the hand-over of device
// frames, and a CUDA graph in place of two launches. Wall times on the host, from the call until the device has
// finished (p50_us).
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "bench/cuda_clip.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/texture.h"
#include "kernels/cuda/texture_queue.h"

#if defined(SACCADE_GL)
#include "gpu/gl/context.h"
#include "gpu/interop/gl_textures.h"
#include "kernels/interop/storage.h"
#include "kernels/interop/texture.h"
#endif

namespace saccade::bench {
namespace {

template <typename F>
void measure_wall(benchmark::State& state, F&& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  int i = 0;
  for (; i < kWarmUp; ++i) work(i);
  for (auto _ : state) {
    const auto begin = Clock::now();
    work(i++);
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    state.SetIterationTime(us.back() * 1e-6);
  }
  report(state, us);
}

// Frames in pageable memory, as a CPU decoder gives them, with known damage; to patches on the device.
void BM_CudaPathDirect(benchmark::State& state, bool pinned) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kHost, pinned);
  CudaTexture pyramid(clip.layout());
  CudaTextureQueue queue(pyramid);
  const PatchPlan plan = clip.plan();
  pyramid.update(clip.frame(1));
  measure_wall(state, [&](int i) {
    queue.upload(clip.frame(i), clip.damage);
    queue.sample(plan, {}, {});
    queue.wait();
  });
}
BENCHMARK_CAPTURE(BM_CudaPathDirect, pageable, false)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaPathDirect, pinned, true)->Apply(sizes);

// Update and samples as a graph, one for each of the clip's frames, against the two launches.
void BM_CudaGraph(benchmark::State& state, bool graph) {
  if (!have_device(state)) return;
  const Clip clip = clip_for(state, MemorySpace::kCuda);
  CudaTexture pyramid(clip.layout());
  CudaTextureQueue queue(pyramid);
  cudaStream_t const stream = queue.stream();
  const PatchPlan plan = clip.plan();
  const auto launch = [&](int i) {
    pyramid.update(clip.frame(i));
    queue.sample(plan, {}, {});
  };
  pyramid.update(clip.frame(1));
  launch(0);
  queue.wait();
  std::vector<cudaGraphExec_t> graphs(clip.views.size());
  for (std::size_t f = 0; graph && f < graphs.size(); ++f) {
    cudaGraph_t recorded = nullptr;
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    launch(static_cast<int>(f));
    cuda_check(cudaStreamEndCapture(stream, &recorded), "cudaStreamEndCapture");
    cuda_check(cudaGraphInstantiate(&graphs[f], recorded, 0), "cudaGraphInstantiate");
    cuda_check(cudaGraphDestroy(recorded), "cudaGraphDestroy");
  }
  measure_wall(state, [&](int i) {
    if (graph) {
      cuda_check(cudaGraphLaunch(graphs[static_cast<std::size_t>(i) % graphs.size()], stream), "cudaGraphLaunch");
    } else {
      launch(i);
    }
    queue.wait();
  });
  for (cudaGraphExec_t exec : graphs) {
    if (exec != nullptr) cuda_check(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
  }
}
BENCHMARK_CAPTURE(BM_CudaGraph, graph, true)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaGraph, launches, false)->Apply(sizes);

#if defined(SACCADE_GL)

std::unique_ptr<gl::Context> context_on_device(benchmark::State& state) {
  if (!have_device(state)) return nullptr;
  try {
    gl::ContextConfig config;
    config.cuda_device = 0;
    config.debug = false;
    return std::make_unique<gl::Context>(gl::Context::offscreen(config));
  } catch (const gl::GlError& error) {
    state.SkipWithError(error.what());
    return nullptr;
  }
}

// The same as BM_CudaPathDirect through pixel buffers: shadow, plan, pixel buffers, glTexSubImage2D, then interop.
void BM_CudaPathPbo(benchmark::State& state) {
  const auto context = context_on_device(state);
  if (!context) return;
  const Clip clip = clip_for(state, MemorySpace::kHost);
  CudaGlTexture pyramid(*context, clip.layout(), {.cuda = {}, .upload = UploadPath::kPbo});
  CudaTextureQueue queue(pyramid.cuda());
  const PatchPlan plan = clip.plan();
  Damage all(clip.damage.grid());
  all.set_all();
  pyramid.upload(clip.frame(1), all);
  pyramid.refresh_mips(all);
  measure_wall(state, [&](int i) {
    pyramid.upload(clip.frame(i), clip.damage);
    pyramid.refresh_mips(clip.damage);
    queue.sample(plan, {}, {});
    queue.wait();
  });
  state.counters["calls"] = pyramid.last_upload().calls;
}
BENCHMARK(BM_CudaPathPbo)->Apply(sizes);

// A device frame, to patches on the device: into GL's textures by CUDA, or handed over by a pixel buffer.
void BM_CudaGlDevice(benchmark::State& state, UploadPath path) {
  const auto context = context_on_device(state);
  if (!context) return;
  const Clip clip = clip_for(state, MemorySpace::kCuda);
  CudaGlTexture pyramid(*context, clip.layout(), {.cuda = {}, .upload = path});
  CudaTextureQueue queue(pyramid.cuda());
  const PatchPlan plan = clip.plan();
  Damage all(clip.damage.grid());
  all.set_all();
  pyramid.upload(clip.frame(1), all);
  pyramid.refresh_mips(all);
  measure_wall(state, [&](int i) {
    if (path == UploadPath::kPbo) {
      pyramid.upload(clip.frame(i), clip.damage);
      pyramid.refresh_mips(clip.damage);
    } else {
      pyramid.cuda().update(clip.frame(i));
    }
    queue.sample(plan, {}, {});
    queue.wait();
  });
}
BENCHMARK_CAPTURE(BM_CudaGlDevice, mapped, UploadPath::kDirect)->Apply(sizes);
BENCHMARK_CAPTURE(BM_CudaGlDevice, hand_over, UploadPath::kPbo)->Apply(sizes);

enum class Between : std::uint8_t { kNothing, kGl, kGlFlushed, kGlFinished, kKernel, kKernelWaited };

// Mapping and unmapping both planes; what lies between two maps is not counted.
void BM_CudaGlMap(benchmark::State& state, Between between) {
  const auto context = context_on_device(state);
  if (!context) return;
  const PyramidLayout layout = make_pyramid_layout(1920, 1080, TextureFormat::kYuv8);
  const std::vector<GlPlane> planes = make_gl_planes(context->capabilities(), layout);
  cuda::SharedStorage arrays(0, planes);
  const CudaStream stream(0);
  const CudaBuffer scratch(0, 4096);
  const std::uint8_t texel = 0;
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  for (auto _ : state) {
    const auto begin = Clock::now();
    arrays.open(stream.get());
    if (between == Between::kKernel || between == Between::kKernelWaited) {
      cuda_check(cudaMemsetAsync(scratch.data(), 0, 4096, stream.get()), "cudaMemsetAsync");
    }
    arrays.give_to_gl();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    state.SetIterationTime(us.back() * 1e-6);
    if (between == Between::kKernelWaited) stream.wait();
    if (between == Between::kNothing || between == Between::kKernel || between == Between::kKernelWaited) continue;
    glTextureSubImage2D(planes[0].texture.name(), 6, 0, 0, 1, 1, GL_RED, GL_UNSIGNED_BYTE, &texel);
    if (between == Between::kGlFlushed) glFlush();
    if (between == Between::kGlFinished) glFinish();
  }
  report(state, us);
  stream.wait();
}
void once(benchmark::internal::Benchmark* b) {
  b->Iterations(kIterations)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(BM_CudaGlMap, alone, Between::kNothing)->Apply(once);
BENCHMARK_CAPTURE(BM_CudaGlMap, gl, Between::kGl)->Apply(once);
BENCHMARK_CAPTURE(BM_CudaGlMap, gl_flushed, Between::kGlFlushed)->Apply(once);
BENCHMARK_CAPTURE(BM_CudaGlMap, gl_finished, Between::kGlFinished)->Apply(once);
BENCHMARK_CAPTURE(BM_CudaGlMap, kernel, Between::kKernel)->Apply(once);
BENCHMARK_CAPTURE(BM_CudaGlMap, kernel_waited, Between::kKernelWaited)->Apply(once);

#endif

}  // namespace
}  // namespace saccade::bench
