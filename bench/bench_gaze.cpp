// The default policy on the host: what a look costs, and what each frame costs between looks.
// Arguments: height in pixels, and the share of the tiles that change from frame to frame in percent.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cpu/texture.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/scanpath/scanpath_policy.h"

namespace saccade {
namespace {

constexpr std::int64_t kFrameNs = 1'000'000'000 / 60;
constexpr int kFramesALook = 15;  // 4 looks a second

// A page of strokes on grey of which clusters of tiles are drawn again each frame, and the policy that looks at it.
class Scene {
 public:
  Scene(int height, int percent)
      : width_(height * 16 / 9 / 16 * 16),
        height_(height),
        percent_(percent),
        luma_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 128),
        chroma_(luma_.size() / 4, 128),
        texture_(make_pyramid_layout(width_, height_, TextureFormat::kYuv8), {}),
        lattice_(make_lattice({}, geometry())),
        targets_(make_novelty_targets(0, kDefaultFovDeg, {}, geometry())) {
    const TileGrid grid = texture_.layout().tiles;
    for (int tile = 0; tile < grid.count(); ++tile) draw(tile);
    update();
    observe();
    look();
  }

  void next_frame() {
    const TileGrid grid = texture_.layout().tiles;
    for (int changed = 0; changed * 100 < grid.count() * percent_; changed += 24) {
      const int left = static_cast<int>(random_() % static_cast<unsigned>(grid.cols));
      const int top = static_cast<int>(random_() % static_cast<unsigned>(grid.rows));
      for (int y = top; y < std::min(top + 4, grid.rows); ++y) {
        for (int x = left; x < std::min(left + 6, grid.cols); ++x) draw(y * grid.cols + x);
      }
    }
    update();
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
  // Every third tile is even, the others have strokes of some width and contrast.
  void draw(int tile) {
    const int cols = texture_.layout().tiles.cols;
    const auto look = static_cast<unsigned>(random_());
    const unsigned code = look >> 24, width = 1 + (look >> 8) % 5;
    for (int y = tile / cols * kTilePx; y < std::min((tile / cols + 1) * kTilePx, height_); ++y) {
      for (int x = tile % cols * kTilePx; x < std::min((tile % cols + 1) * kTilePx, width_); ++x) {
        const bool stroke = look % 3 != 0 && static_cast<unsigned>(look & 64 ? x : x + y) / width % 2 == 0;
        luma_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)] =
            static_cast<std::uint8_t>(stroke ? 255 - code : code);
      }
    }
  }
  void update() {
    FrameView frame;
    frame.width_px = width_;
    frame.height_px = height_;
    frame.planes = {{{luma_.data(), width_}, {chroma_.data(), width_ / 2}, {chroma_.data(), width_ / 2}}};
    texture_.update(frame);
  }

  int width_, height_, percent_;
  std::vector<std::uint8_t> luma_, chroma_;
  std::mt19937 random_{1};
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
