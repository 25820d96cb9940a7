// The persistent texture as GL textures: backend gl.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/gl/context.h"
#include "gpu/gl/timer.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/gl/drawable_pyramid.h"
#include "kernels/gl/host_samples.h"
#include "kernels/gl/mips.h"
#include "kernels/gl/planes.h"
#include "kernels/gl/sampler.h"
#include "kernels/gl/uploader.h"
#include "kernels/pyramid.h"
#include "kernels/upload_planner.h"

namespace saccade {

// Where levels and samples are made. The same bits in levels, and samples within one code, either way.
enum class GlWork : std::uint8_t {
  kAuto,     // kHost on a software renderer, else kCompute
  kCompute,  // compute shaders
  kHost,  // the CPU's code on the shadow, and the textures are copies to draw with: where "the GPU" is the CPU, shaders
          // take some twenty times as long for it
};

struct GlPyramidConfig {
  GlWork work = GlWork::kAuto;
  UploadPath upload = UploadPath::kAuto;
  std::optional<UploadCost> cost;  // empty: measured on this machine when the pyramid is made
};

// All calls on the thread that owns the context, with the context current; the context outlives the pyramid.
// The CPU cannot read a texture while drawing goes on, so level 0 has a copy in host memory, its shadow: the differ
// compares with it, and uploads are taken from it, so a rectangle may cover undamaged tiles and change nothing there.
class GlPyramid final : public DrawablePyramid {
 public:
  GlPyramid(const gl::Context& context, const PyramidLayout& layout, const GlPyramidConfig& config = {});
  GlPyramid(const GlPyramid&) = delete;
  GlPyramid& operator=(const GlPyramid&) = delete;

  const PyramidLayout& layout() const override { return layout_; }
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;  // bytes sent to GL
  void refresh_mips(const Damage& damage) override;
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override;  // waits for GL
  void read_level(int plane, int level, LevelImage& out) const override;                   // waits for GL

  void measure_device() override { measuring_ = true; }
  bool poll_device_time(DeviceTime& time) override;

  // The same samples without waiting, in the order submitted; sample() must not be called while some are pending.
  bool submit_samples(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format);
  bool collect_samples(PatchBatch& batch, bool wait);
  int samples_pending() const;

  // CpuTileDiffer(pyramid.shadow(), config) is this backend's differ.
  const CpuPyramid& shadow() const { return shadow_; }

  const UploadPlan& last_upload() const override { return last_upload_; }
  const UploadCost& upload_cost() const { return planner_.cost(); }
  bool computes_on_host() const { return host_; }
  UploadPath upload_path() const { return uploader_.path(); }
  std::int64_t upload_waits() const { return uploader_.waits(); }
  const GlTimes& times() const override { return times_; }

  const GlPlane& plane(int index) const override { return planes_.at(static_cast<std::size_t>(index)); }

 private:
  void keep_latest(gl::Timer& timer, DeviceTime::Work work, double& ms);

  PyramidLayout layout_;
  bool host_;
  CpuPyramid shadow_;  // level 0; with kHost all levels
  std::vector<GlPlane> planes_;
  GlUploader uploader_;
  UploadPlanner planner_;
  std::optional<GlMips> mips_;        // with kCompute
  std::optional<GlSampler> sampler_;  // with kCompute
  GlHostSamples host_samples_;        // with kHost
  gl::Timer upload_timer_, mips_timer_, sample_timer_;
  UploadPlan last_upload_;
  GlTimes times_;
  bool measuring_ = false;
  std::array<DeviceTime, 8> measured_{};  // not yet asked for, oldest first
  std::size_t measured_count_ = 0;
};

}  // namespace saccade
