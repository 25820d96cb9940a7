// Samples made in host memory, handed over in the way of GlSampler: for software renderers.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cpu/pyramid.h"
#include "kernels/gl/sampler.h"

namespace saccade {

// submit() samples at once, so that later frames do not show; collect() hands the oldest over. Allocates when N, S or
// the format change. Borrows the pyramid.
class GlHostSamples {
 public:
  explicit GlHostSamples(CpuPyramid& pyramid) : pyramid_(pyramid) {}

  bool submit(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);  // false: kSlots are waiting
  bool collect(PatchBatch& batch);  // false: none is waiting. Throws as GlSampler::collect.
  int pending() const { return static_cast<int>(submitted_ - collected_); }

 private:
  CpuPyramid& pyramid_;
  std::array<PatchBatch, GlSampler::kSlots> slots_;
  std::int64_t submitted_ = 0;
  std::int64_t collected_ = 0;
};

}  // namespace saccade
