// Backend cuda on GL's textures: CUDA makes levels and samples in place, and GL can draw from the same texels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gl/context.h"
#include "kernels/cpu/differ.h"
#include "kernels/cuda/texture.h"
#include "kernels/drawable_texture.h"
#include "kernels/gl/planes.h"
#include "kernels/gl/uploader.h"
#include "kernels/upload_planner.h"

namespace saccade {

namespace cuda {
class GlStorage;
class PboHandover;
}  // namespace cuda

// How GL gets what CUDA made.
enum class GlSharing : std::uint8_t {
  kAuto,    // CUDA writes GL's textures; where the driver can't share them, as kCopied
  kCopied,  // CUDA writes storage of its own; GL gets copies through a pixel buffer (cuda::CopiedStorage)
};

struct CudaGlTextureConfig {
  CudaTextureConfig cuda;
  // kDirect: all of CudaTexture's ways, into mapped textures. kPbo: level 0 is written by GL alone: host frames through
  // the ring of pixel buffers, device frames by CUDA -> pixel buffer -> glTexSubImage2D; CUDA then makes the levels, so
  // the textures must be shared, and an update is always made of its steps.
  UploadPath upload = UploadPath::kDirect;
  GlSharing sharing = GlSharing::kAuto;
  bool calibrate = true;  // kPbo: measure what GL's calls cost, in place of figures that make every plan the same
};

// The context, on the same device, is the caller's, current in every call and longer-lived, or the texture's own, made
// current by every call. Throws CudaError where textures must be shared and the driver can't.
class CudaGlTexture final : public Texture, public StagedTexture, public DrawableTexture, public TimedTexture {
 public:
  CudaGlTexture(const gl::Context& context, const PyramidLayout& layout, const CudaGlTextureConfig& config);
  CudaGlTexture(std::unique_ptr<gl::Context> context, const PyramidLayout& layout, const CudaGlTextureConfig& config);
  ~CudaGlTexture() override;
  CudaGlTexture(const CudaGlTexture&) = delete;
  CudaGlTexture& operator=(const CudaGlTexture&) = delete;

  const PyramidLayout& layout() const override { return layout_; }
  void update(const FrameView& frame) override;
  const Damage& damage() override;
  std::int64_t bytes_written() override;
  void damage_everything() override;
  void configure(const DiffConfig& config) override;
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
              PatchBatch& batch) override;
  void measure_device() override { cuda_->measure_device(); }
  bool poll_device_time(DeviceTime& time) override;
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override;

  TextureCapabilities capabilities() override;
  std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const override;
  // kPbo: host frames against the shadow on the CPU, device frames against the texture on the device; a change of place
  // damages everything, for the other one knows nothing of what this one has seen.
  const Damage& diff(const FrameView& frame) override;
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;
  void refresh_mips(const Damage& damage) override;

  CudaTexture& cuda() { return *cuda_; }
  const std::string& why_copied() const { return why_copied_; }  // empty: mapped

  const UploadPlan& last_upload() const override { return last_upload_; }  // empty with kDirect
  const GlTimes& times() const override { return times_; }                 // while device times are measured
  unsigned texture(int index) const override { return plane(index).texture.name(); }
  const GlPlane& plane(int index) const;  // GL's until CUDA's next use
  void make_current() const {
    if (own_) own_->make_current();
  }

 private:
  CudaGlTexture(std::unique_ptr<gl::Context>&& own, const gl::Context& context, const PyramidLayout& layout,
                const CudaGlTextureConfig& config);

  std::unique_ptr<gl::Context> own_;  // null: the caller's
  PyramidLayout layout_;
  int device_;
  UploadPath path_;
  std::vector<GlPlane> planes_;
  std::string why_copied_;
  cuda::GlStorage* storage_ = nullptr;  // of cuda_
  std::unique_ptr<CudaTexture> cuda_;
  // With kPbo
  std::optional<CpuPyramid> shadow_;  // level 0 as host frames left it
  std::optional<CpuTileDiffer> host_differ_;
  std::optional<MemorySpace> last_space_;  // of the frame compared last
  const Damage* damage_ = nullptr;         // found by the last diff
  std::optional<GlUploader> uploader_;
  std::optional<UploadPlanner> planner_;
  std::unique_ptr<cuda::PboHandover> handover_;  // made for the first device frame
  UploadPlan last_upload_;
  GlTimes times_;
};

}  // namespace saccade
