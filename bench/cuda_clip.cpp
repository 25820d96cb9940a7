#include "bench/cuda_clip.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <random>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/pyramid_layout.h"

namespace saccade::bench {
namespace {

constexpr int kPatches = 273;

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

}  // namespace

bool have_device(benchmark::State& state) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  static_cast<void>(cudaGetLastError());
  state.SkipWithError("no CUDA device");
  return false;
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
      device.emplace_back(0, bytes.size());
      cuda_check(cudaMemcpy(device.back().data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
      base = device.back().data();
    } else if (pinned) {
      page_locked.emplace_back(0, bytes.size());
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

PatchPlan Clip::plan() const {
  const int width = views[0].width_px;
  const int height = views[0].height_px;
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

Clip clip_for(const benchmark::State& state, MemorySpace space, bool pinned) {
  const int height = static_cast<int>(state.range(1));
  const int frames = height > 1500 ? 6 : 12;
  return Clip(static_cast<int>(state.range(0)), height, static_cast<int>(state.range(2)), space, pinned, frames);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const auto& [w, h] : {std::pair{1280, 720}, {1920, 1080}, {3840, 2160}}) {
    for (const int percent : {1, 10, 100}) b->Args({w, h, percent});
  }
  b->Iterations(kIterations)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace saccade::bench
