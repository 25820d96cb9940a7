#include "kernels/gl/pyramid.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace saccade {
namespace {

bool on_host(GlWork work, const gl::Capabilities& capabilities) {
  return work == GlWork::kHost || (work == GlWork::kAuto && capabilities.software);
}

}  // namespace

GlPyramid::GlPyramid(const gl::Context& context, const PyramidLayout& layout, const GlPyramidConfig& config)
    : layout_(layout),
      host_(on_host(config.work, context.capabilities())),
      shadow_(host_ ? layout : level0_of(layout)),
      planes_(make_gl_planes(context.capabilities(), layout)),
      uploader_(context.capabilities(), planes_, shadow_, config.upload),
      planner_(layout, config.cost ? *config.cost : uploader_.calibrate(host_)),
      host_samples_(shadow_),
      upload_timer_(gl::Timer::of_hardware(context.capabilities())),
      mips_timer_(gl::Timer::of_hardware(context.capabilities())),
      sample_timer_(gl::Timer::of_hardware(context.capabilities())) {
  if (!host_) {
    mips_.emplace(context.capabilities(), layout, planes_);
    sampler_.emplace(context.capabilities(), planes_);
  }
  gl::check("GlPyramid");
}

void GlPyramid::keep_latest(gl::Timer& timer, DeviceTime::Work work, double& ms) {
  const auto ns = timer.poll_ns();
  if (!ns) return;
  ms = static_cast<double>(*ns) * 1e-6;
  if (measuring_ && measured_count_ < measured_.size()) measured_[measured_count_++] = {work, *ns};
}

bool GlPyramid::poll_device_time(DeviceTime& time) {
  if (measured_count_ == 0) return false;
  time = measured_[0];
  std::shift_left(measured_.begin(), measured_.end(), 1);
  --measured_count_;
  return true;
}

std::int64_t GlPyramid::upload(const FrameView& frame, const Damage& damage) {
  shadow_.upload(frame, damage);
  upload_timer_.begin();
  last_upload_ = planner_.plan(damage);
  uploader_.push(last_upload_.rects);
  upload_timer_.end();
  keep_latest(upload_timer_, DeviceTime::Work::kUpload, times_.upload_ms);
  return last_upload_.bytes;
}

void GlPyramid::refresh_mips(const Damage& damage) {
  mips_timer_.begin();
  if (host_) {
    shadow_.refresh_mips(damage);
    uploader_.push_mips(last_upload_.rects);
  } else {
    mips_->refresh(damage);
  }
  mips_timer_.end();
  keep_latest(mips_timer_, DeviceTime::Work::kMips, times_.mips_ms);
}

bool GlPyramid::submit_samples(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  sample_timer_.begin();
  const bool submitted = host_ ? host_samples_.submit(plan, color, format) : sampler_->submit(plan, color, format);
  sample_timer_.end();
  keep_latest(sample_timer_, DeviceTime::Work::kSample, times_.sample_ms);
  return submitted;
}

bool GlPyramid::collect_samples(PatchBatch& batch, bool wait) {
  return host_ ? host_samples_.collect(batch) : sampler_->collect(batch, wait);
}

int GlPyramid::samples_pending() const { return host_ ? host_samples_.pending() : sampler_->pending(); }

void GlPyramid::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  if (samples_pending() != 0) throw std::logic_error("sample(): submitted samples have not been collected");
  if (host_) {
    shadow_.sample(plan, color, batch);
    return;
  }
  submit_samples(plan, color, batch.format());
  sampler_->collect(batch, true);
}

void GlPyramid::read_level(int plane_index, int level, LevelImage& out) const {
  if (plane_index < 0 || plane_index >= layout_.plane_count) {
    throw std::out_of_range(fmt::format("plane {}: this texture has {}", plane_index, layout_.plane_count));
  }
  const GlPlane& plane = planes_[static_cast<std::size_t>(plane_index)];
  if (level < 0 || level >= plane.layout.levels) {
    throw std::out_of_range(fmt::format("level {}: plane {} has {}", level, plane_index, plane.layout.levels));
  }
  out.width = plane.layout.width >> level;
  out.height = plane.layout.height >> level;
  out.channels = plane.layout.channels;
  out.bytes_per_channel = plane.layout.bytes_per_channel;
  out.data.resize(static_cast<std::size_t>(out.width) *
                  static_cast<std::size_t>(out.height * plane.layout.texel_bytes()));
  gl::Sync::fence().finish("reading a level");
  gl::forget_errors();
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glGetTextureImage(plane.codes.name(), level, plane.format.transfer_codes, plane.format.type,
                    static_cast<GLsizei>(out.data.size()), out.data.data());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  gl::check("glGetTextureImage");
}

}  // namespace saccade
