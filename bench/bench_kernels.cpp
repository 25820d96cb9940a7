// The CPU stages one by one and together: diff, upload, mips, sample, at three sizes and three shares of damage.
// Arguments: height in pixels, damage in percent of the tiles, 1 for vector code and 0 for the plain versions.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/cpu/texture.h"

namespace saccade {
namespace {

constexpr int kFrames = 7;  // enough that frames come from memory, not from the cache

// Frames of an I420 clip of which each differs from its neighbours in the given share of tiles, in clusters. Played
// forth and back.
class Clip {
 public:
  Clip(int height, int percent) : height_(height), width_(height * 16 / 9) {
    std::mt19937 rng(1);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(width_ * height_ * 3 / 2));
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(64 + rng() % 128);
    for (int f = 0; f < kFrames; ++f) {
      frames_.push_back(bytes);
      change(bytes, rng, percent);
    }
  }

  FrameView next() {
    at_ += step_;
    if (at_ == 0 || at_ == kFrames - 1) step_ = -step_;
    return view(at_);
  }

  FrameView view(int index) const {
    const std::uint8_t* bytes = frames_[static_cast<std::size_t>(index)].data();
    FrameView frame;
    frame.width_px = width_;
    frame.height_px = height_;
    frame.planes[0] = {bytes, width_};
    frame.planes[1] = {bytes + width_ * height_, width_ / 2};
    frame.planes[2] = {bytes + width_ * height_ * 5 / 4, width_ / 2};
    frame.color.matrix = ColorMatrix::kBt709;
    return frame;
  }

 private:
  void change(std::vector<std::uint8_t>& bytes, std::mt19937& rng, int percent) const {
    const int cols = (width_ + 15) / 16;
    const int rows = (height_ + 15) / 16;
    std::vector<bool> changed(static_cast<std::size_t>(cols * rows));
    for (int count = 0; count * 100 < cols * rows * percent;) {
      const int x0 = static_cast<int>(rng() % static_cast<unsigned>(cols));
      const int y0 = static_cast<int>(rng() % static_cast<unsigned>(rows));
      for (int y = y0; y < std::min(y0 + 4, rows) && count * 100 < cols * rows * percent; ++y) {
        for (int x = x0; x < std::min(x0 + 6, cols); ++x) {
          const auto tile = static_cast<std::size_t>(y * cols + x);
          if (changed[tile]) continue;
          changed[tile] = true;
          ++count;
          change_tile(bytes, rng, x * 16, y * 16);
        }
      }
    }
  }
  void change_tile(std::vector<std::uint8_t>& bytes, std::mt19937& rng, int x0, int y0) const {
    for (int y = y0; y < std::min(y0 + 16, height_); ++y) {
      for (int x = x0; x < std::min(x0 + 16, width_); ++x) {
        std::uint8_t& b = bytes[static_cast<std::size_t>(y * width_ + x)];
        b = static_cast<std::uint8_t>(b + 1 + rng() % 60);
      }
    }
  }

  int height_;
  int width_;
  int at_ = 0;
  int step_ = 1;
  std::vector<std::vector<std::uint8_t>> frames_;
};

// Everything the stages need, with the clip's first frame in the texture.
struct Bench {
  Clip clip;
  CpuPyramid pyramid;
  CpuTileDiffer differ;
  PatchPlan plan;
  PatchBatch batch;

  Bench(int height, int percent, bool simd, PatchPlan patches)
      : clip(height, percent),
        pyramid(make_pyramid_layout(height * 16 / 9, height, TextureFormat::kYuv8), simd ? simd_ops() : plain_ops()),
        differ(pyramid, {}),
        plan(std::move(patches)),
        batch(plan.count(), plan.patch_size, {}) {
    const FrameView first = clip.view(0);
    const Damage& all = differ.diff(first);
    pyramid.upload(first, all);
    pyramid.refresh_mips(all);
  }
  explicit Bench(const benchmark::State& state, PatchPlan patches = {})
      : Bench(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), state.range(2) != 0,
              std::move(patches)) {}
};

void add_patch(PatchPlan& plan, int width, int height, float x, float y, float lod) {
  Patch patch{x, y, lod, 0};
  patch.coverage = patch_coverage(patch, plan.patch_size, width, height);
  plan.patches.push_back(patch);
}

// 8 x 8 patches in the middle, rings of 8 x 8 less 4 x 4 around it, 17 of a still coarser level: 273, integer lods,
// samples on texels.
PatchPlan nested_plan(int width, int height) {
  PatchPlan plan;
  const float x0 = static_cast<float>(width / 128 * 64);
  const float y0 = static_cast<float>(height / 128 * 64);
  for (int level = 0; level < 5; ++level) {
    const float side = 16.0f * static_cast<float>(1 << level);
    for (int j = -4; j < 4; ++j) {
      for (int i = -4; i < 4; ++i) {
        if (level > 0 && i >= -2 && i < 2 && j >= -2 && j < 2) continue;
        add_patch(plan, width, height, x0 + (static_cast<float>(i) + 0.5f) * side,
                  y0 + (static_cast<float>(j) + 0.5f) * side, static_cast<float>(level));
      }
    }
  }
  for (int i = 0; i < 17; ++i) {
    add_patch(plan, width, height, static_cast<float>(256 + i % 6 * 512), static_cast<float>(256 + i / 6 * 512), 5.0f);
  }
  return plan;
}

// 21 x 13 centres, level of detail by distance from the middle.
PatchPlan grid_plan(int width, int height) {
  PatchPlan plan;
  for (int n = 0; n < 273; ++n) {
    const float x = (static_cast<float>(n % 21) + 0.5f) / 21.0f * static_cast<float>(width);
    const float y = (static_cast<float>(n / 21) + 0.5f) / 13.0f * static_cast<float>(height);
    const float e = std::hypot(x - static_cast<float>(width) / 2, y - static_cast<float>(height) / 2);
    const float e0 = 2.3f / 40.0f * static_cast<float>(width);
    add_patch(plan, width, height, x, y, std::log2((e + e0) / e0));
  }
  return plan;
}

void diff(benchmark::State& state) {
  Bench bench(state);
  const FrameView view = bench.clip.view(1);
  double share = 0;
  for (auto _ : state) share = bench.differ.diff(view).share();
  state.counters["damage"] = share;
}

void upload(benchmark::State& state) {
  Bench bench(state);
  Damage damage = bench.differ.diff(bench.clip.view(1));
  std::int64_t bytes = 0;
  for (auto _ : state) bytes = bench.pyramid.upload(bench.clip.view(1), damage);
  state.counters["damage"] = damage.share();
  state.SetBytesProcessed(bytes * state.iterations());
}

void mips(benchmark::State& state) {
  Bench bench(state);
  Damage damage = bench.differ.diff(bench.clip.view(1));
  for (auto _ : state) bench.pyramid.refresh_mips(damage);
  state.counters["damage"] = damage.share();
}

void sample(benchmark::State& state, PatchPlan (*make_plan)(int, int)) {
  const auto height = static_cast<int>(state.range(0));
  Bench bench(height, 1, state.range(1) != 0, make_plan(height * 16 / 9, height));
  const ColorSpec color = bench.clip.view(0).color;
  for (auto _ : state) bench.pyramid.sample(bench.plan, color, bench.batch);
}

// Diff, upload and mips in one pass, on a playing clip.
void update(benchmark::State& state) {
  Bench bench(state);
  CpuTexture texture(bench.pyramid.layout(), {}, false, bench.pyramid.ops());
  texture.update(bench.clip.view(0));
  double share = 0;
  for (auto _ : state) {
    texture.update(bench.clip.next());
    share = texture.damage().share();
  }
  state.counters["damage"] = share;
}

// All of a frame on a playing clip, as the pipeline does it: what a frame costs beside decoding.
void frame(benchmark::State& state, PatchPlan (*make_plan)(int, int)) {
  const auto height = static_cast<int>(state.range(0));
  Bench bench(state, make_plan(height * 16 / 9, height));
  CpuTexture texture(bench.pyramid.layout(), {}, false, bench.pyramid.ops());
  texture.update(bench.clip.view(0));
  for (auto _ : state) {
    const FrameView view = bench.clip.next();
    texture.update(view);
    texture.sample(bench.plan, view.color, bench.batch);
  }
}

// The same, stage by stage.
void frame_staged(benchmark::State& state, PatchPlan (*make_plan)(int, int)) {
  const auto height = static_cast<int>(state.range(0));
  Bench bench(state, make_plan(height * 16 / 9, height));
  for (auto _ : state) {
    const FrameView view = bench.clip.next();
    const Damage& damage = bench.differ.diff(view);
    bench.pyramid.upload(view, damage);
    bench.pyramid.refresh_mips(damage);
    bench.pyramid.sample(bench.plan, view.color, bench.batch);
  }
}

const std::vector<std::vector<std::int64_t>> kCases{{720, 1080, 2160}, {1, 10, 100}, {1, 0}};

BENCHMARK(diff)->ArgNames({"height", "damage", "simd"})->ArgsProduct(kCases)->Unit(benchmark::kMicrosecond);
BENCHMARK(upload)->ArgNames({"height", "damage", "simd"})->ArgsProduct(kCases)->Unit(benchmark::kMicrosecond);
BENCHMARK(mips)->ArgNames({"height", "damage", "simd"})->ArgsProduct(kCases)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sample, nested, nested_plan)
    ->ArgNames({"height", "simd"})
    ->ArgsProduct({kCases[0], kCases[2]})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sample, grid, grid_plan)
    ->ArgNames({"height", "simd"})
    ->ArgsProduct({kCases[0], kCases[2]})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(update)
    ->ArgNames({"height", "damage", "simd"})
    ->ArgsProduct({{720, 1080, 2160}, {0, 1, 10, 100}, {1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(frame_staged, nested, nested_plan)
    ->ArgNames({"height", "damage", "simd"})
    ->ArgsProduct({{720, 1080, 2160}, {0, 1, 7, 10, 100}, {1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(frame, nested, nested_plan)
    ->ArgNames({"height", "damage", "simd"})
    ->ArgsProduct({{720, 1080, 2160}, {0, 1, 7, 10, 100}, {1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade
