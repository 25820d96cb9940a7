// Backend gl: the persistent texture as GL textures, with its level 0 in host memory as well.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/gl/context.h"
#include "gpu/gl/timer.h"
#include "kernels/cpu/differ.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/drawable_texture.h"
#include "kernels/gl/mips.h"
#include "kernels/gl/planes.h"
#include "kernels/gl/sampler.h"
#include "kernels/gl/uploader.h"
#include "kernels/held_picture.h"
#include "kernels/texture.h"
#include "kernels/upload_planner.h"

namespace saccade {

// Where levels and samples are made. The same bits in levels, and samples within one code, either way.
enum class GlWork : std::uint8_t {
  kAuto,     // kHost on a software renderer, else kCompute
  kCompute,  // compute shaders
  // The CPU's code on the shadow, and the textures are copies to draw with: where "the GPU" is the CPU, shaders take
  // some twenty times as long for it.
  kHost,
};

struct GlTextureConfig {
  GlWork work = GlWork::kAuto;
  UploadPath upload = UploadPath::kAuto;
  std::optional<UploadCost> cost;  // empty: measured on this machine when the texture is made
  DiffConfig diff;
};

// The CPU cannot read a texture while drawing goes on, so level 0 has a copy in host memory, its shadow: frames are
// compared with it, and uploads are taken from it, so a rectangle may cover undamaged tiles and change nothing there.
class GlTexture final : public Texture, public StagedTexture, public DrawableTexture, public TimedTexture {
 public:
  // In the caller's context, which is current in every call and outlives the texture.
  GlTexture(const gl::Context& context, const PyramidLayout& layout, const GlTextureConfig& config = {});
  // In a context of its own, which every call makes current where it isn't, and leaves current.
  GlTexture(std::unique_ptr<gl::Context> context, const PyramidLayout& layout, const GlTextureConfig& config);
  ~GlTexture() override;
  GlTexture(const GlTexture&) = delete;
  GlTexture& operator=(const GlTexture&) = delete;

  const PyramidLayout& layout() const override { return layout_; }
  void update(const FrameView& frame) override { run_steps(frame); }
  const Damage& damage() override { return differ_.damage(); }
  std::int64_t bytes_written() override { return last_upload_.bytes; }  // sent to GL
  void damage_everything() override { differ_.damage_everything(); }
  void configure(const DiffConfig& config) override { differ_.configure(config); }
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;
  void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t>,
              PatchBatch& batch) override {
    sample(plan, color, batch);
  }
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override;

  const UploadCost& upload_cost() const { return planner_.cost(); }

  TextureCapabilities capabilities() override { return {.staged = this, .drawable = this, .timed = this}; }
  std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const override;
  const Damage& diff(const FrameView& frame) override { return differ_.diff(frame); }
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;  // bytes sent to GL
  void refresh_mips(const Damage& damage) override;

  void measure_device() override { measuring_ = true; }
  bool poll_device_time(DeviceTime& time) override;

  const UploadPlan& last_upload() const override { return last_upload_; }
  const GlTimes& times() const override { return times_; }
  unsigned texture(int index) const override { return plane(index).texture.name(); }
  const GlPlane& plane(int index) const { return planes_.at(static_cast<std::size_t>(index)); }
  void make_current() const {
    if (own_) own_->make_current();
  }

 private:
  GlTexture(std::unique_ptr<gl::Context>&& own, const gl::Context& context, const PyramidLayout& layout,
            const GlTextureConfig& config);
  void keep_latest(gl::Timer& timer, DeviceTime::Work work, double& ms);

  std::unique_ptr<gl::Context> own_;  // null: the caller's
  PyramidLayout layout_;
  bool host_;
  bool persistent_;    // buffers that the host reads are mapped
  CpuPyramid shadow_;  // level 0; with kHost all levels
  CpuTileDiffer differ_;
  std::vector<GlPlane> planes_;
  GlUploader uploader_;
  UploadPlanner planner_;
  std::optional<GlMips> mips_;        // with kCompute
  std::optional<GlSampler> sampler_;  // with kCompute
  gl::Timer upload_timer_, mips_timer_, sample_timer_;
  UploadPlan last_upload_;
  GlTimes times_;
  bool measuring_ = false;
  std::array<DeviceTime, 8> measured_{};  // not yet asked for, oldest first
  std::size_t measured_count_ = 0;
};

}  // namespace saccade
