// The persistent texture on the card: in mipmapped arrays of CUDA's own, which need the NVIDIA driver alone, or
// elsewhere (cuda_gl_pyramid.h).
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"

namespace saccade {

namespace cuda {
struct CudaState;
class TextureHome;
}  // namespace cuda

// Everything runs in one stream of its own, on the current device. The *_async calls return at once: the frame must
// stay valid, and its pixels written (see wait_for), until the matching finish_ or wait() returns. The calls of Pyramid
// wait by themselves. One thread. Throws CudaError (gpu/cuda/error.h) and std::invalid_argument.
class CudaPyramid final : public Pyramid {
 public:
  // kExact: fetch and lerp, the arithmetic of the plain CPU sampler. kHardware: the texture unit, 8-bit weights.
  enum class Sampling : std::uint8_t { kExact, kHardware };

  explicit CudaPyramid(const PyramidLayout& layout);  // in arrays of its own
  CudaPyramid(const PyramidLayout& layout, std::unique_ptr<cuda::TextureHome> home);
  ~CudaPyramid() override;

  const PyramidLayout& layout() const override;
  // Of host and of device frames. Writes level 0 and, unless staged, all levels in the same launch; refresh_mips then
  // has nothing left to do. Counts padding among the bytes written.
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;
  void refresh_mips(const Damage& damage) override;
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void read_level(int plane, int level, LevelImage& out) const override;
  PatchBatch make_batch(std::size_t count, int patch_size, const SampleFormat& format) const override;  // page-locked
  void submit(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void measure_device() override;
  bool poll_device_time(DeviceTime& time) override;

  // Takes the memory that host frames need on their way to the card now, so that a full card says so before work
  // begins; else the first such frame takes it.
  void reserve_for_host_frames();

  // Level 0 was written by somebody else (GL): refresh_mips has everything to do.
  void note_level0_written();

  // The fused frame: diff against level 0, write, all levels, in one launch; then the damage, when it is asked for.
  // Host frames are copied to the card whole. `everything`: first frame, seek.
  void update_async(const FrameView& frame, const DiffConfig& config, bool everything);
  const Damage& finish_update();  // waits; valid until the next update or diff

  // The same without bringing the damage or the patches back to the host.
  void update_on_card(const FrameView& frame, const DiffConfig& config, bool everything);
  void sample_on_card(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);

  std::int64_t upload_async(const FrameView& frame, const Damage& damage);
  void sample_async(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);
  void finish_sample(PatchBatch& batch);  // waits; same N, S and format as the plan sampled last
  const void* device_patches() const;     // N x 3 x S x S of the last sample; on the card

  void set_staged(bool staged);  // one launch per stage: the reference, and for profiling
  void set_sampling(Sampling sampling);
  void wait() const;                // for all that was queued
  void wait_for(void* cuda_event);  // later work runs after that cudaEvent_t
  void wait_for_default_stream();  // later work runs after what was queued there so far: FFmpeg's frames are made there
  void* stream() const;            // the cudaStream_t
  static std::int64_t bytes_of(const Damage& damage, const PyramidLayout& layout);  // what upload writes

 private:
  friend class CudaTileDiffer;
  std::unique_ptr<cuda::CudaState> state_;
};

}  // namespace saccade
