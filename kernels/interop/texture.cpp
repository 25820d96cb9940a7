#include "kernels/interop/texture.h"

#include <stdexcept>
#include <utility>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/texture_queue.h"
#include "kernels/interop/handover.h"
#include "kernels/interop/storage.h"

namespace saccade {
namespace {

std::unique_ptr<cuda::GlStorage> make_storage(const PyramidLayout& layout, std::span<const GlPlane> planes,
                                              const CudaGlTextureConfig& config, std::string& why_copied) {
  const int device = config.cuda.device;
  const bool by_gl = config.upload == UploadPath::kPbo;
  if (config.sharing == GlSharing::kCopied) {
    if (by_gl) throw std::invalid_argument("CUDA would not see what GL uploads to a copy");
    why_copied = "asked for";
  } else {
    try {
      auto shared = std::make_unique<cuda::SharedStorage>(device, planes);
      const CudaStream stream(device);
      shared->open(stream.get());  // a driver may register a texture and then not map it
      shared->give_to_gl();
      return shared;
    } catch (const CudaError& error) {
      const bool no_memory = error.code() == cudaErrorMemoryAllocation;  // copies would need more
      if (no_memory || by_gl) throw;
      why_copied = error.what();
    }
  }
  return std::make_unique<cuda::CopiedStorage>(device, layout, planes);
}

// CUDA maps GL's textures in the context that has them.
class CurrentHeldPicture final : public HeldPicture {
 public:
  CurrentHeldPicture(const CudaGlTexture& texture, std::unique_ptr<HeldPicture> held)
      : texture_(texture), held_(std::move(held)) {}

  int levels() const override { return held_->levels(); }
  void note(const Damage& damage) override { held_->note(damage); }
  TileErrors measure() override {
    texture_.make_current();
    return held_->measure();
  }
  void hold(std::span<const Square> squares) override {
    texture_.make_current();
    held_->hold(squares);
  }
  void forget() override { held_->forget(); }
  void forget(const TileRect& tiles) override { held_->forget(tiles); }

 private:
  const CudaGlTexture& texture_;
  std::unique_ptr<HeldPicture> held_;
};

}  // namespace

CudaGlTexture::CudaGlTexture(const gl::Context& context, const PyramidLayout& layout, const CudaGlTextureConfig& config)
    : CudaGlTexture(nullptr, context, layout, config) {}

CudaGlTexture::CudaGlTexture(std::unique_ptr<gl::Context> context, const PyramidLayout& layout,
                             const CudaGlTextureConfig& config)
    : CudaGlTexture(std::move(context), *context, layout, config) {}

CudaGlTexture::CudaGlTexture(std::unique_ptr<gl::Context>&& own, const gl::Context& context,
                             const PyramidLayout& layout, const CudaGlTextureConfig& config)
    : own_(std::move(own)),
      layout_(layout),
      device_(config.cuda.device),
      path_(config.upload == UploadPath::kPbo ? UploadPath::kPbo : UploadPath::kDirect),
      planes_(make_gl_planes(context.capabilities(), layout)) {
  auto storage = make_storage(layout, planes_, config, why_copied_);
  storage_ = storage.get();
  CudaTextureConfig cuda = config.cuda;
  cuda.staged = cuda.staged || path_ == UploadPath::kPbo;
  cuda_ = std::make_unique<CudaTexture>(layout, cuda, std::move(storage));
  if (path_ != UploadPath::kPbo) return;
  shadow_.emplace(level0_of(layout));
  host_differ_.emplace(*shadow_, config.cuda.diff);
  uploader_.emplace(context.capabilities(), planes_, *shadow_, UploadPath::kPbo);
  planner_.emplace(layout, config.calibrate ? uploader_->calibrate(false) : UploadCost{});
  gl::check("CudaGlTexture");
}

// GL's names are deleted, and its textures unmapped, in the context that has them.
CudaGlTexture::~CudaGlTexture() {
  try {
    make_current();
  } catch (const gl::GlError&) {  // the context is lost, or another thread's: nothing here can be deleted
  }
}

void CudaGlTexture::update(const FrameView& frame) {
  make_current();
  if (path_ != UploadPath::kPbo) {
    cuda_->update(frame);
  } else {
    run_steps(frame);
  }
}

const Damage& CudaGlTexture::damage() {
  return path_ == UploadPath::kPbo && damage_ != nullptr ? *damage_ : cuda_->damage();
}

std::int64_t CudaGlTexture::bytes_written() {
  return path_ == UploadPath::kPbo ? last_upload_.bytes : cuda_->bytes_written();
}

void CudaGlTexture::damage_everything() {
  cuda_->damage_everything();
  if (host_differ_) host_differ_->damage_everything();
}

void CudaGlTexture::configure(const DiffConfig& config) {
  cuda_->configure(config);
  if (host_differ_) host_differ_->configure(config);
}

TextureCapabilities CudaGlTexture::capabilities() {
  const TextureCapabilities cuda = cuda_->capabilities();
  const bool staged = path_ == UploadPath::kPbo || cuda.staged != nullptr;
  return {.staged = staged ? this : nullptr, .drawable = this, .timed = this, .patch_memory = cuda.patch_memory};
}

std::unique_ptr<HeldPicture> CudaGlTexture::make_held_picture(const ErrorMeasure& measure) const {
  return std::make_unique<CurrentHeldPicture>(*this, cuda_->make_held_picture(measure));
}

const Damage& CudaGlTexture::diff(const FrameView& frame) {
  make_current();
  if (path_ != UploadPath::kPbo) return cuda_->diff(frame);
  if (last_space_ && *last_space_ != frame.space) damage_everything();
  last_space_ = frame.space;
  damage_ = frame.space == MemorySpace::kHost ? &host_differ_->diff(frame) : &cuda_->diff(frame);
  return *damage_;
}

std::int64_t CudaGlTexture::upload(const FrameView& frame, const Damage& damage) {
  make_current();
  if (path_ != UploadPath::kPbo) return cuda_->upload(frame, damage);
  check_damage(damage, layout_);
  last_upload_ = frame.space == MemorySpace::kHost ? planner_->plan(damage) : planner_->plan_exact(damage);
  storage_->give_to_gl();
  CudaTextureQueue queue(*cuda_);
  if (frame.space == MemorySpace::kHost) {
    shadow_->upload(frame, damage);
    uploader_->push(last_upload_.rects);
  } else {
    if (!handover_) handover_ = std::make_unique<cuda::PboHandover>(device_, layout_, planes_);
    queue.follow(frame);
    try {
      handover_->push(frame, last_upload_.rects, queue.stream());
    } catch (...) {
      static_cast<void>(cudaStreamSynchronize(queue.stream()));
      throw;
    }
    queue.wait();  // the frame goes back to its decoder
  }
  queue.note_level0_written();
  return last_upload_.bytes;
}

void CudaGlTexture::refresh_mips(const Damage& damage) {
  make_current();
  cuda_->refresh_mips(damage);
}

const GlPlane& CudaGlTexture::plane(int index) const {
  make_current();
  storage_->give_to_gl();
  return planes_.at(static_cast<std::size_t>(index));
}

bool CudaGlTexture::poll_device_time(DeviceTime& time) {
  if (!cuda_->poll_device_time(time)) return false;
  const double ms = static_cast<double>(time.ns) * 1e-6;
  using Work = DeviceTime::Work;
  if (time.work == Work::kUpload || time.work == Work::kUpdate) times_.upload_ms = ms;
  if (time.work == Work::kMips) times_.mips_ms = ms;
  if (time.work == Work::kSample) times_.sample_ms = ms;
  return true;
}

void CudaGlTexture::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  make_current();
  cuda_->sample(plan, color, batch);
}

void CudaGlTexture::submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
                           PatchBatch& batch) {
  make_current();
  cuda_->submit(plan, color, changed, batch);
}

void CudaGlTexture::read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                                std::ptrdiff_t pitch_bytes) const {
  make_current();
  cuda_->read_texels(plane, level, part, out, pitch_bytes);
}

}  // namespace saccade
