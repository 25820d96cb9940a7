// The GL pyramid at 1080p: upload (planned and whole), mips, samples, by share of damaged tiles. Wall time to the end
// of the GL work, so that software and hardware renderers compare. Built to nothing without OpenGL.
#if defined(SACCADE_GL)

#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <vector>

#include "kernels/gl/texture.h"

namespace saccade {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

gl::Context* context() {
  static const std::unique_ptr<gl::Context> made = []() -> std::unique_ptr<gl::Context> {
    try {
      gl::ContextConfig config;
      config.debug = false;
      return std::make_unique<gl::Context>(gl::Context::offscreen(config));
    } catch (const gl::GlError&) {
      return nullptr;
    }
  }();
  return made.get();
}

struct Scene {
  std::vector<std::uint8_t> luma = std::vector<std::uint8_t>(kWidth * kHeight, 90);
  std::vector<std::uint8_t> chroma = std::vector<std::uint8_t>(kWidth * kHeight / 2, 128);
  PyramidLayout layout = make_pyramid_layout(kWidth, kHeight, TextureFormat::kYuv8);
  Damage damage{layout.tiles};
  FrameView frame;

  // Blobs of 3 x 3 tiles, as moving things make, until the share is reached.
  explicit Scene(std::int64_t percent) {
    frame.layout = PixelLayout::kNv12;
    frame.width_px = kWidth;
    frame.height_px = kHeight;
    frame.planes[0] = {luma.data(), kWidth};
    frame.planes[1] = {chroma.data(), kWidth};
    std::mt19937 random(1);
    if (percent == 100) damage.set_all();
    while (damage.share() * 100 < static_cast<double>(percent)) {
      const int tx = static_cast<int>(random() % static_cast<unsigned>(layout.tiles.cols - 2));
      const int ty = static_cast<int>(random() % static_cast<unsigned>(layout.tiles.rows - 2));
      for (int i = 0; i < 9; ++i) damage.set((ty + i / 3) * layout.tiles.cols + tx + i % 3);
    }
  }
};

void upload(benchmark::State& state, UploadPath path, bool whole) {
  if (context() == nullptr) return state.SkipWithError("no OpenGL");
  Scene scene(state.range(0));
  GlTextureConfig config{GlWork::kAuto, path, {}, {}};
  if (whole) config.cost = UploadCost{1e9, 1e-9};
  GlTexture pyramid(*context(), scene.layout, config);
  for (auto _ : state) {
    pyramid.upload(scene.frame, scene.damage);
    glFinish();
  }
  const UploadPlan& plan = pyramid.last_upload();
  state.counters["calls"] = plan.calls;
  state.counters["bytes"] = static_cast<double>(plan.bytes);
  state.counters["call_us"] = pyramid.upload_cost().call_us;
  state.counters["MB/s"] = 1 / pyramid.upload_cost().byte_us;
  state.SetLabel(context()->capabilities().renderer);
}

void mips(benchmark::State& state, GlWork work) {
  if (context() == nullptr) return state.SkipWithError("no OpenGL");
  Scene scene(state.range(0));
  GlTexture pyramid(*context(), scene.layout, {work, UploadPath::kAuto, {}, {}});
  pyramid.upload(scene.frame, scene.damage);
  for (auto _ : state) {
    pyramid.refresh_mips(scene.damage);
    glFinish();
  }
  state.SetLabel(context()->capabilities().renderer);
}

// 273 patches; range 0: fractional levels of detail, or whole ones on texels.
void sample(benchmark::State& state, GlWork work) {
  if (context() == nullptr) return state.SkipWithError("no OpenGL");
  Scene scene(100);
  GlTexture pyramid(*context(), scene.layout, {work, UploadPath::kAuto, {}, {}});
  PatchPlan plan;
  for (int n = 0; n < 273; ++n) {
    const float lod = state.range(0) != 0 ? static_cast<float>(n % 6) : static_cast<float>(n % 60) * 0.1f;
    plan.patches.push_back({static_cast<float>(n * 7 % kWidth), static_cast<float>(n * 4 % kHeight), lod, 1.0f});
  }
  PatchBatch batch(plan.count(), plan.patch_size, {});
  pyramid.sample(plan, {}, batch);  // compiles
  for (auto _ : state) pyramid.sample(plan, {}, batch);
  state.SetLabel(context()->capabilities().renderer);
}

void upload_direct(benchmark::State& state) { upload(state, UploadPath::kDirect, false); }
void upload_pbo(benchmark::State& state) { upload(state, UploadPath::kPbo, false); }
void upload_direct_whole(benchmark::State& state) { upload(state, UploadPath::kDirect, true); }
void upload_pbo_whole(benchmark::State& state) { upload(state, UploadPath::kPbo, true); }

template <int... kArguments>
void each(benchmark::internal::Benchmark* bench) {
  for (const int argument : {kArguments...}) bench->Arg(argument);
  bench->MeasureProcessCPUTime()->UseRealTime();
}
BENCHMARK(upload_direct)->Name("gl/upload/direct")->Apply(each<1, 10, 40, 100>);
BENCHMARK(upload_pbo)->Name("gl/upload/pbo")->Apply(each<1, 10, 40, 100>);
BENCHMARK(upload_direct_whole)->Name("gl/upload/direct_whole")->Apply(each<1, 10, 40>);
BENCHMARK(upload_pbo_whole)->Name("gl/upload/pbo_whole")->Apply(each<1, 10, 40>);
BENCHMARK_CAPTURE(mips, compute, GlWork::kCompute)->Name("gl/mips/compute")->Apply(each<1, 10, 40, 100>);
BENCHMARK_CAPTURE(mips, host, GlWork::kHost)->Name("gl/mips/host")->Apply(each<1, 10, 40, 100>);
BENCHMARK_CAPTURE(sample, compute, GlWork::kCompute)
    ->Name("gl/sample/compute")
    ->ArgName("whole_lods")
    ->Apply(each<1, 0>);
BENCHMARK_CAPTURE(sample, host, GlWork::kHost)->Name("gl/sample/host")->ArgName("whole_lods")->Apply(each<1, 0>);

}  // namespace
}  // namespace saccade

#endif  // SACCADE_GL
