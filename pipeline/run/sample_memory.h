// The last emission's samples, so that patches which did not change are copied, not sampled again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_batch.h"
#include "kernels/pyramid.h"

namespace saccade {

// For backends in host memory, where a copy costs a small part of sampling. One thread. Allocates when the shape of the
// batch changes, else nothing.
class SampleMemory {
 public:
  // Fills `batch` as pyramid.sample() would. changed[n] is 0 only where PatchHistory vouches for the bytes.
  void sample(Pyramid& pyramid, const ColorSpec& color, const PatchPlan& plan, std::span<const std::uint8_t> changed,
              PatchBatch& batch);

 private:
  PatchBatch last_;
  std::vector<Patch> places_;         // of last_
  std::vector<std::uint8_t> wanted_;  // per patch: 1 where it must be sampled
};

}  // namespace saccade
