// The default policy on the host: what a look costs, and what each frame costs between looks.
// Arguments: height in pixels, and the share of the tiles that change from frame to frame in percent.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>

#include "bench/tile_picture.h"
#include "kernels/cpu/texture.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr std::int64_t kFrameNs = 1'000'000'000 / 60;
constexpr int kFramesALook = 15;  // 4 looks a second

// Every third tile is even, the others have strokes of some width and contrast.
const auto kStrokes = [](std::mt19937& random) {
  const auto look = static_cast<unsigned>(random());
  return [look](int x, int y) {
    const unsigned code = look >> 24, width = 1 + (look >> 8) % 5;
    const bool stroke = look % 3 != 0 && static_cast<unsigned>(look & 64 ? x : x + y) / width % 2 == 0;
    return stroke ? 255 - code : code;
  };
};

// A page that changes each frame, and the policy that looks at it.
class Scene {
 public:
  Scene(int height, int percent)
      : width_(height * 16 / 9 / 16 * 16),
        height_(height),
        percent_(percent),
        picture_(width_, height_, kStrokes),
        texture_(make_pyramid_layout(width_, height_, TextureFormat::kYuv8), {}),
        lattice_(make_lattice({}, geometry())),
        targets_(make_novelty_targets(0, kDefaultFovDeg, {}, geometry())) {
    texture_.update(picture_.view());
    observe();
    look();
  }

  void next_frame() {
    picture_.change(percent_);
    texture_.update(picture_.view());
    elapsed_ns_ += kFrameNs;
  }
  void observe() { targets_->observe(elapsed_ns_, view()); }
  void look() {
    benchmark::DoNotOptimize(
        targets_->choose({.index = looks_++, .elapsed_ns = elapsed_ns_, .from = {}, .first = false}, view()));
  }

 private:
  FrameGeometry geometry() const { return {.width_px = width_, .height_px = height_}; }
  SceneView view() {
    return {.damage = &texture_.damage(), .levels = &texture_, .geometry = geometry(), .lattice = lattice_.get()};
  }

  int width_, height_, percent_;
  bench::TilePicture<decltype(kStrokes)> picture_;
  CpuTexture texture_;
  std::unique_ptr<Lattice> lattice_;
  std::unique_ptr<FixationTargets> targets_;
  std::int64_t elapsed_ns_ = 0, looks_ = 0;
};

template <typename F>
double seconds_of(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void gaze_look(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto _ : state) {
    for (int frame = 0; frame < kFramesALook; ++frame) {
      scene.next_frame();
      scene.observe();
    }
    state.SetIterationTime(seconds_of([&] { scene.look(); }));
  }
}

void gaze_observe(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto _ : state) {
    scene.next_frame();
    state.SetIterationTime(seconds_of([&] { scene.observe(); }));
  }
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgsProduct({{720, 1080, 2160}, {0, 1, 22, 100}})->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(gaze_look)->Apply(arguments)->Iterations(40);
BENCHMARK(gaze_observe)->Apply(arguments)->Iterations(40);

}  // namespace
}  // namespace saccade
