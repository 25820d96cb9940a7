// What the benchmarks on the device share: clips of which known tiles change, the patches, medians.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "gpu/cuda/buffer.h"
#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade::bench {

inline constexpr int kIterations = 300;
inline constexpr int kWarmUp = 20;
inline constexpr int kPatchSize = 16;

bool have_device(benchmark::State& state);  // false: skipped, and said why

// NV12 in `space`; tiles of which about `percent` in 100 alternate between two contents, chosen at random.
struct Clip {
  Clip(int width, int height, int percent, MemorySpace space, bool pinned, int frames);
  const FrameView& frame(int i) const { return views[static_cast<std::size_t>(i) % views.size()]; }
  PyramidLayout layout() const {
    return make_pyramid_layout(views[0].width_px, views[0].height_px, TextureFormat::kYuv8);
  }
  PatchPlan plan() const;  // 273 patches of 16x16, lod 0 to 6, as the nested lattice has them

  std::vector<CudaBuffer> device;
  std::vector<PinnedBuffer> page_locked;
  std::vector<std::vector<std::uint8_t>> pageable;
  std::vector<FrameView> views;
  Damage damage;  // between any two neighbours
};
Clip clip_for(const benchmark::State& state, MemorySpace space, bool pinned = false);  // by the arguments of sizes()

void report(benchmark::State& state, std::vector<double>& us);  // counters p50_us and p90_us
void sizes(benchmark::internal::Benchmark* b);                  // 720p, 1080p, 2160p at 1, 10, 100 %; manual time

}  // namespace saccade::bench
