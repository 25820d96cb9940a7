// Foveated patches from the GL textures.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/gl/context.h"
#include "gpu/gl/readback.h"
#include "gpu/gl/timer.h"
#include "kernels/color.h"
#include "kernels/gl/planes.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"

namespace saccade {

// Buffers grow when a plan asks for more than any before; else nothing allocates. Owning thread; borrows planes.
class GlSampler {
 public:
  GlSampler(const gl::Capabilities& capabilities, std::span<const GlPlane> planes);

  // As Texture::sample. timer: of the commands, without the wait. Throws gl::GlError when waiting is in vain.
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch, gl::Timer& timer);

 private:
  void reserve(std::int64_t plan_bytes, std::int64_t samples_bytes);
  void fill_plan(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);
  void copy_out(PatchBatch& batch);

  bool persistent_ = false;
  std::span<const GlPlane> planes_;
  std::array<gl::Program, 3> programs_;  // by SampleType
  gl::Buffer plan_;
  std::int64_t plan_bytes_ = 0;  // capacity
  gl::Readback samples_;
  std::vector<std::byte> staging_;
};

}  // namespace saccade
