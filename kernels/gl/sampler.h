// Foveated patches from the GL textures, read back without waiting.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/gl/context.h"
#include "kernels/color.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/gl/planes.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"

namespace saccade {

// Throws std::invalid_argument when the batch has another N, S or format.
void require_same_shape(const PatchBatch& batch, std::size_t count, int patch_size, const SampleFormat& format);

// submit() starts a plan; collect() gives the oldest one's samples, usually a frame or two later. kSlots may be under
// way. Buffers grow when a plan asks for more than any before; else nothing allocates. Owning thread; borrows planes.
class GlSampler {
 public:
  static constexpr int kSlots = 3;

  GlSampler(const gl::Capabilities& capabilities, std::span<const GlPlane> planes);

  // False, and nothing is done, when kSlots plans are under way.
  bool submit(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);
  int pending() const { return static_cast<int>(submitted_ - collected_); }
  bool ready() const;  // collect() would not wait

  // False when nothing is under way, or the oldest is not finished and `wait` is false. Throws std::invalid_argument
  // when the batch's N, S or format differ from what was submitted, and gl::GlError when waiting is in vain; the result
  // is then dropped.
  bool collect(PatchBatch& batch, bool wait);

 private:
  struct Slot {
    gl::Buffer plan, samples;
    std::int64_t plan_bytes = 0, samples_bytes = 0;  // capacity
    const std::byte* mapped = nullptr;               // of `samples`, or null
    gl::Sync done;
    std::size_t count = 0;
    int patch_size = 0;
    SampleFormat format;
  };
  void reserve(Slot& slot, std::int64_t plan_bytes, std::int64_t samples_bytes) const;
  void fill_plan(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);
  void copy_out(const Slot& slot, PatchBatch& batch);

  bool persistent_ = false;
  std::span<const GlPlane> planes_;
  std::array<gl::Program, 3> programs_;  // by SampleType
  std::array<Slot, kSlots> slots_;
  std::int64_t submitted_ = 0;
  std::int64_t collected_ = 0;
  std::vector<std::byte> staging_;
};

// Samples made in host memory, handed over in the same way: for software renderers.
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
