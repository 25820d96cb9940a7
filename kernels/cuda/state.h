// What a CudaTexture is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/timer.h"
#include "kernels/cuda/caller_work.h"
#include "kernels/cuda/differ.h"
#include "kernels/cuda/frame_intake.h"
#include "kernels/cuda/held_memory.h"
#include "kernels/cuda/kept_batches.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/plan_on_device.h"
#include "kernels/cuda/storage.h"
#include "kernels/cuda/texture.h"
#include "kernels/texture.h"

namespace saccade::cuda {

// The arrays of all levels, and what kernels need to reach them.
class DeviceLevels {
 public:
  DeviceLevels(const PyramidLayout& layout, int device, cudaStream_t stream, std::unique_ptr<TextureStorage> storage);
  const TextureParams& open();  // before work on them is queued in `stream`
  const CudaMipmap& plane(int index) const { return storage_->plane(index); }  // once open

 private:
  cudaStream_t stream_;
  std::unique_ptr<TextureStorage> storage_;
  CudaBuffer tile_sums_;
  TextureParams params_{};
};

// Its calls want the texture's device to be the current one, and queue their work.
struct CudaState {
  CudaState(const PyramidLayout& layout, const CudaTextureConfig& config, std::unique_ptr<TextureStorage> storage);
  CudaDeviceGuard make_current() const { return CudaDeviceGuard(stream.device()); }

  // Measures the work queued while it lives.
  class Span {
   public:
    Span(CudaState& state, DeviceTime::Work work) : state_(state), work_(work) {
      if (!state_.timers.empty()) timer().begin(state_.stream.get());
    }
    ~Span() {
      try {
        if (!state_.timers.empty()) timer().end(state_.stream.get());
      } catch (const CudaError&) {  // the next call reports it
      }
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    CudaTimer& timer() { return state_.timers[static_cast<std::size_t>(work_)]; }
    CudaState& state_;
    DeviceTime::Work work_;
  };

  void diff(const FrameView& frame, bool write);
  std::int64_t upload(const FrameView& frame, const Damage& damage);  // returns bytes_of(damage)
  void refresh_mips(const Damage& damage);
  // Of the plan that was sent last, into memory that the device can write.
  void sample(const ColorSpec& color, const SampleFormat& format, void* out);
  CallerWork& caller_work();
  std::int64_t bytes_of(const Damage& damage) const;  // that an update writes to level 0, padding included

  PyramidLayout layout;
  bool staged;
  CudaStream stream;
  DeviceLevels levels;
  TileDiffer differ;
  FrameIntake intake;
  PlanOnDevice plan;
  bool levels_done = false;            // by the launch that wrote level 0
  bool hardware = false;               // samples by the texture unit
  bool early_launch;                   // see SampleParams
  std::vector<CudaTimer> timers;       // by DeviceTime::Work; empty: nothing is measured
  std::unique_ptr<CallerWork> caller;  // null: nothing went into a caller's memory
  std::shared_ptr<KeptBatches> batches;
  PatchBatch samples;                       // of sample(), on their way to memory that the device can't write
  std::unique_ptr<HeldMemory> held_memory;  // that a held picture left for the next
};

}  // namespace saccade::cuda
