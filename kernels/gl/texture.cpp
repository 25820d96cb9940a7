#include "kernels/gl/texture.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/held_picture.h"
#include "kernels/gl/held_picture.h"

namespace saccade {
namespace {

bool on_host(GlWork work, const gl::Capabilities& capabilities) {
  return work == GlWork::kHost || (work == GlWork::kAuto && capabilities.software);
}

}  // namespace

GlTexture::GlTexture(const gl::Context& context, const PyramidLayout& layout, const GlTextureConfig& config)
    : GlTexture(nullptr, context, layout, config) {}

GlTexture::GlTexture(std::unique_ptr<gl::Context> context, const PyramidLayout& layout, const GlTextureConfig& config)
    : GlTexture(std::move(context), *context, layout, config) {}

GlTexture::GlTexture(std::unique_ptr<gl::Context>&& own, const gl::Context& context, const PyramidLayout& layout,
                     const GlTextureConfig& config)
    : own_(std::move(own)),
      layout_(layout),
      host_(on_host(config.work, context.capabilities())),
      persistent_(context.capabilities().persistent_mapping),
      shadow_(host_ ? layout : level0_of(layout)),
      differ_(shadow_, config.diff),
      planes_(make_gl_planes(context.capabilities(), layout)),
      uploader_(context.capabilities(), planes_, shadow_, config.upload),
      planner_(layout, config.cost ? *config.cost : uploader_.calibrate(host_)),
      upload_timer_(gl::Timer::of_hardware(context.capabilities())),
      mips_timer_(gl::Timer::of_hardware(context.capabilities())),
      sample_timer_(gl::Timer::of_hardware(context.capabilities())) {
  if (!host_) {
    mips_.emplace(context.capabilities(), layout, planes_);
    sampler_.emplace(context.capabilities(), planes_);
  }
  gl::check("GlTexture");
}

// Names are deleted in the context that has them.
GlTexture::~GlTexture() {
  try {
    make_current();
  } catch (const gl::GlError&) {  // the context is lost, or another thread's: nothing here can be deleted
  }
}

void GlTexture::keep_latest(gl::Timer& timer, DeviceTime::Work work, double& ms) {
  const auto ns = timer.poll_ns();
  if (!ns) return;
  ms = static_cast<double>(*ns) * 1e-6;
  if (measuring_ && measured_count_ < measured_.size()) measured_[measured_count_++] = {work, *ns};
}

bool GlTexture::poll_device_time(DeviceTime& time) {
  if (measured_count_ == 0) return false;
  time = measured_[0];
  std::shift_left(measured_.begin(), measured_.end(), 1);
  --measured_count_;
  return true;
}

std::int64_t GlTexture::upload(const FrameView& frame, const Damage& damage) {
  make_current();
  shadow_.upload(frame, damage);
  upload_timer_.begin();
  last_upload_ = planner_.plan(damage);
  uploader_.push(last_upload_.rects);
  upload_timer_.end();
  keep_latest(upload_timer_, DeviceTime::Work::kUpload, times_.upload_ms);
  return last_upload_.bytes;
}

void GlTexture::refresh_mips(const Damage& damage) {
  check_damage(damage, layout_);
  make_current();
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

void GlTexture::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  if (host_) {
    shadow_.sample(plan, color, batch);
    return;
  }
  make_current();
  sampler_->sample(plan, color, batch, sample_timer_);
  keep_latest(sample_timer_, DeviceTime::Work::kSample, times_.sample_ms);
}

std::unique_ptr<HeldPicture> GlTexture::make_held_picture(const ErrorMeasure& measure) const {
  if (host_) return std::make_unique<CpuHeldPicture>(shadow_, measure);
  return std::make_unique<GlHeldPicture>(*this, persistent_, measure);
}

void GlTexture::read_texels(int plane_index, int level, const TexelRect& part, std::uint8_t* out,
                            std::ptrdiff_t pitch_bytes) const {
  const std::ptrdiff_t texel_bytes = check_texels(plane_index, level, part).texel_bytes();
  if (part.width == 0 || part.height == 0) return;
  const GlPlane& plane = planes_[static_cast<std::size_t>(plane_index)];
  make_current();
  gl::Sync::fence().finish("reading texels");
  gl::forget_errors();
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glPixelStorei(GL_PACK_ROW_LENGTH, static_cast<GLint>(pitch_bytes / texel_bytes));
  glGetTextureSubImage(plane.codes.name(), level, part.x, part.y, 0, part.width, part.height, 1,
                       plane.format.transfer_codes, plane.format.type,
                       static_cast<GLsizei>((part.height - 1) * pitch_bytes + part.width * texel_bytes), out);
  glPixelStorei(GL_PACK_ROW_LENGTH, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  gl::check("glGetTextureSubImage");
}

}  // namespace saccade
