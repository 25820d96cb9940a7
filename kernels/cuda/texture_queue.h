// What CudaTexture's own calls hide: its stream, and work that is queued and not waited for. For OpenGL's side of a
// texture (kernels/interop), benches and tests.
#pragma once

#include "gpu/cuda/buffer.h"
#include "kernels/cuda/state.h"
#include "kernels/cuda/texture.h"

namespace saccade {

// Borrows the texture. Frames must live until wait().
class CudaTextureQueue {
 public:
  explicit CudaTextureQueue(CudaTexture& texture) : state_(*texture.state_) {}

  cudaStream_t stream() const { return state_.stream.get(); }
  void wait() const { state_.stream.wait(); }  // for all that was queued
  // Later work runs after what the frame's stream has queued so far.
  void follow(const FrameView& frame) { state_.intake.follow(frame); }
  // By GL: refresh_mips() has everything to do.
  void note_level0_written() { state_.levels_done = false; }

  std::int64_t upload(const FrameView& frame, const Damage& damage) {
    const CudaDeviceGuard guard = state_.make_current();
    const cuda::CudaState::Span span(state_, DeviceTime::Work::kUpload);
    return state_.upload(frame, damage);
  }

  // Into device memory of the queue's.
  void sample(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
    const CudaDeviceGuard guard = state_.make_current();
    const cuda::CudaState::Span span(state_, DeviceTime::Work::kSample);
    const std::size_t bytes = PatchBatch::bytes_of(plan.count(), plan.patch_size, format);
    if (samples_.size_bytes() < bytes) samples_ = CudaBuffer(state_.stream.device(), bytes);
    state_.plan.send(plan, {}, {}, stream());
    state_.sample(color, format, samples_.data());
  }
  // Filter by the texture unit, with weights of 8 bits, in place of fetch and lerp.
  void use_texture_unit() { state_.hardware = true; }

 private:
  cuda::CudaState& state_;
  CudaBuffer samples_;
};

}  // namespace saccade
