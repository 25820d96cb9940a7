// Backend cuda on GL's textures: CUDA makes levels and samples in place, and GL can draw from the same texels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gl/context.h"
#include "kernels/cpu/tile_differ.h"
#include "kernels/cuda/pyramid.h"
#include "kernels/cuda/tile_differ.h"
#include "kernels/gl/drawable_pyramid.h"
#include "kernels/gl/uploader.h"
#include "kernels/upload_path.h"
#include "kernels/upload_planner.h"

namespace saccade {

namespace cuda {
class GlHome;
class PboHandover;
}  // namespace cuda

// How GL gets what CUDA made.
enum class GlSharing : std::uint8_t {
  kAuto,    // CUDA writes GL's textures; where the driver can't share them, as kCopied
  kCopied,  // CUDA writes arrays of its own; GL gets copies through a pixel buffer (cuda::GlCopies)
};

// kDirect: all of CudaPyramid's ways, into mapped textures. kPbo: level 0 is written by GL alone: host frames through
// the ring of pixel buffers, device frames by CUDA -> pixel buffer -> glTexSubImage2D; CUDA then makes the levels, so
// the textures must be shared. All calls on the thread on which the context, of the same card, is current; it outlives
// the pyramid.
class CudaGlPyramid final : public DrawablePyramid {
 public:
  // Throws CudaError where textures must be shared and the driver can't.
  // calibrate: measure what GL's calls cost (kPbo), in place of typical figures, which make plans the same every time.
  CudaGlPyramid(const gl::Context& context, const PyramidLayout& layout, UploadPath path,
                GlSharing sharing = GlSharing::kAuto, bool calibrate = true);
  ~CudaGlPyramid() override;
  CudaGlPyramid(const CudaGlPyramid&) = delete;
  CudaGlPyramid& operator=(const CudaGlPyramid&) = delete;

  const PyramidLayout& layout() const override { return layout_; }
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;
  void refresh_mips(const Damage& damage) override { cuda_->refresh_mips(damage); }
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void read_level(int plane, int level, LevelImage& out) const override { cuda_->read_level(plane, level, out); }
  PatchBatch make_batch(std::size_t count, int patch_size, const SampleFormat& format) const override;
  void submit(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void measure_device() override { cuda_->measure_device(); }
  bool poll_device_time(DeviceTime& time) override;

  CudaPyramid& cuda() { return *cuda_; }
  const CpuPyramid& shadow() const { return *shadow_; }  // kPbo only: level 0 as host frames left it
  UploadPath path() const { return path_; }
  const std::string& why_copied() const { return why_copied_; }            // empty: mapped
  const UploadPlan& last_upload() const override { return last_upload_; }  // empty with kDirect
  const GlTimes& times() const override { return times_; }                 // while device times are measured
  const GlPlane& plane(int index) const override;                          // GL's until CUDA's next use

 private:
  PyramidLayout layout_;
  UploadPath path_;
  std::vector<GlPlane> planes_;
  std::string why_copied_;
  cuda::GlHome* home_ = nullptr;  // of cuda_
  std::unique_ptr<CudaPyramid> cuda_;
  std::optional<CpuPyramid> shadow_;
  std::optional<GlUploader> uploader_;
  std::optional<UploadPlanner> planner_;
  std::unique_ptr<cuda::PboHandover> handover_;  // made for the first device frame
  UploadPlan last_upload_;
  GlTimes times_;
};

// The differ beside kPbo: host frames against the shadow on the CPU, device frames against the texture on the card.
class CudaGlTileDiffer final : public TileDiffer {
 public:
  CudaGlTileDiffer(CudaGlPyramid& texture, const DiffConfig& config);
  const Damage& diff(const FrameView& frame) override;
  void damage_everything() override;
  void configure(const DiffConfig& config) override;

 private:
  CpuTileDiffer on_host_;
  CudaTileDiffer on_card_;
  std::optional<MemorySpace> last_;  // the other place knows nothing of what this one has seen
};

}  // namespace saccade
