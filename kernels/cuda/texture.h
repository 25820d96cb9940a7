// Backend cuda: the texture on a device, in mipmapped arrays of CUDA's own, which need the NVIDIA driver alone, or in
// GL's (kernels/interop/texture.h).
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/device_texture.h"
#include "kernels/held_picture.h"
#include "kernels/texture.h"

namespace saccade {

namespace cuda {
struct CudaState;
class TextureStorage;
}  // namespace cuda

struct CudaTextureConfig {
  DiffConfig diff;
  bool staged = false;  // one launch a step: the reference, and for profiling
  int device = 0;       // CUDA's ordinal
  // So many batches that are gone leave their page-locked memory for the next ones. Making it would stall all others
  // on the device.
  std::size_t kept_batches = 0;
  // Take the memory that host frames need on their way to the device at once, so that a full device says so before work
  // begins; else the first such frame takes it.
  bool host_frames = false;
};

// Everything runs in one stream of its own. update() is one launch, and its damage stays on the device, as a word a
// tile, until damage() is called; the frame must live until damage() returns. Takes frames of its own device and of the
// host. Samples by fetch and lerp, the arithmetic of the plain CPU sampler. Throws CudaError (gpu/cuda/error.h) and
// std::invalid_argument. kernels/cuda/texture_queue.h queues work without waiting.
class CudaTexture final : public Texture,
                          public StagedTexture,
                          public DeviceTexture,
                          public TimedTexture,
                          public ReusableTexture,
                          public PatchMemorySource {
 public:
  explicit CudaTexture(const PyramidLayout& layout, const CudaTextureConfig& config = {});  // in storage of its own
  CudaTexture(const PyramidLayout& layout, const CudaTextureConfig& config,
              std::unique_ptr<cuda::TextureStorage> storage);
  ~CudaTexture() override;
  CudaTexture(const CudaTexture&) = delete;
  CudaTexture& operator=(const CudaTexture&) = delete;

  const PyramidLayout& layout() const override;
  void update(const FrameView& frame) override;
  const Damage& damage() override;
  std::int64_t bytes_written() override;
  void damage_everything() override;
  void configure(const DiffConfig& config) override;
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
              PatchBatch& batch) override;
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override;
  TextureCapabilities capabilities() override;

  const Damage& diff(const FrameView& frame) override;
  // Of host and of device frames. Writes level 0 and, unless staged, all levels in the same launch; refresh_mips then
  // has nothing left to do.
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;
  void refresh_mips(const Damage& damage) override;

  int device() const override;
  bool is_device_memory(const void* pointer) const override;
  void note_damage() override;
  void reserve_places(std::size_t places) override;
  void reserve_slots(std::size_t bytes) override;
  void submit_to(const PatchPlan& plan, const ColorSpec& color, std::span<const float> geometry,
                 std::span<const PlaceRecord> places, const PatchTarget& target) override;
  void give_back(void* stream) override;
  std::shared_ptr<const DeviceMark> reading() override;
  DeviceTotals totals() override;

  void measure_device() override;
  bool poll_device_time(DeviceTime& time) override;
  void start_over(const DiffConfig& config) override;
  std::unique_ptr<PatchMemory> make_memory(std::size_t size_bytes) const override;  // page-locked
  std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const override;

 private:
  friend class CudaTextureQueue;
  std::unique_ptr<cuda::CudaState> state_;
};

}  // namespace saccade
