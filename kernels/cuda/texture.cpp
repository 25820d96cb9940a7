#include "kernels/cuda/texture.h"

#include <algorithm>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/cuda/held_picture.h"
#include "kernels/cuda/state.h"
#include "kernels/cuda/texture_queue.h"

namespace saccade {

namespace cuda {
namespace {

// Page-locked memory of a batch of patches, and the mark that says when they have come. Freed, or kept, only after the
// device has written what it was told to. wait() sleeps: a writer's thread is in no hurry.
class CudaPatchMemory final : public PatchMemory {
 public:
  CudaPatchMemory(BatchMemory memory, const std::shared_ptr<KeptBatches>& kept)
      : memory_(std::move(memory)), kept_(kept) {}
  ~CudaPatchMemory() override {
    try {
      memory_.written.wait();
      if (const auto kept = kept_.lock()) kept->give(std::move(memory_));
    } catch (const CudaError&) {  // a lost device writes nothing
    }
  }

  std::byte* data() override { return memory_.bytes.as<std::byte>(); }
  void wait() const override { memory_.written.wait(); }
  CudaEvent& written() { return memory_.written; }

 private:
  BatchMemory memory_;
  std::weak_ptr<KeptBatches> kept_;  // the texture's; batches may outlive it
};

}  // namespace
}  // namespace cuda

CudaTexture::CudaTexture(const PyramidLayout& layout, const CudaTextureConfig& config)
    : CudaTexture(layout, config, std::make_unique<cuda::OwnStorage>(config.device, layout)) {}

CudaTexture::CudaTexture(const PyramidLayout& layout, const CudaTextureConfig& config,
                         std::unique_ptr<cuda::TextureStorage> storage)
    : state_(std::make_unique<cuda::CudaState>(layout, config, std::move(storage))) {}

CudaTexture::~CudaTexture() {
  const CudaDeviceGuard guard(device(), std::nothrow);
  static_cast<void>(cudaStreamSynchronize(state_->stream.get()));
  state_.reset();
}

const PyramidLayout& CudaTexture::layout() const { return state_->layout; }

void CudaTexture::update(const FrameView& frame) {
  if (state_->staged) {
    run_steps(frame);
    return;
  }
  const CudaDeviceGuard guard = state_->make_current();
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kUpdate);
  state_->diff(frame, true);
}

const Damage& CudaTexture::damage() {
  const CudaDeviceGuard guard = state_->make_current();
  return state_->differ.damage();
}

std::int64_t CudaTexture::bytes_written() { return state_->bytes_of(damage()); }
void CudaTexture::damage_everything() { state_->differ.damage_everything(); }
void CudaTexture::configure(const DiffConfig& config) { state_->differ.configure(config); }

// The next update writes all of level 0, its levels and sums. What only saves work stays: buffers and their sizes.
void CudaTexture::start_over(const DiffConfig& config) {
  state_->stream.wait();
  const CudaDeviceGuard guard = state_->make_current();
  state_->differ.start_over(config);
  state_->intake.forget_frame();
  state_->plan.forget();
  state_->levels_done = false;
  state_->hardware = false;
  state_->caller.reset();
}

// Times of one stream would come in with the next one's.
TextureCapabilities CudaTexture::capabilities() {
  return {.staged = state_->staged ? this : nullptr,
          .device = this,
          .timed = this,
          .reusable = state_->timers.empty() ? this : nullptr,
          .patch_memory = this};
}

const Damage& CudaTexture::diff(const FrameView& frame) {
  const CudaDeviceGuard guard = state_->make_current();
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kDiff);
    state_->diff(frame, false);
  }
  return state_->differ.damage();
}

std::int64_t CudaTexture::upload(const FrameView& frame, const Damage& damage) {
  const std::int64_t bytes = CudaTextureQueue(*this).upload(frame, damage);
  state_->stream.wait();
  return bytes;
}

void CudaTexture::refresh_mips(const Damage& damage) {
  check_damage(damage, state_->layout);
  if (damage.count() == 0 || state_->levels_done) return;
  const CudaDeviceGuard guard = state_->make_current();
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kMips);
    state_->refresh_mips(damage);
  }
  state_->stream.wait();
}

void CudaTexture::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  check_same_shape(plan, batch);
  if (batch.bytes().empty()) return;
  const bool direct = batch.memory() != nullptr;
  PatchBatch& to = direct ? batch : state_->samples;
  if (to.count() != batch.count() || to.patch_size() != batch.patch_size() || to.format() != batch.format()) {
    to = make_batch(batch.count(), batch.patch_size(), batch.format());
  }
  submit(plan, color, {}, to);
  state_->stream.wait();
  if (!direct) std::ranges::copy(to.bytes(), batch.bytes().begin());
}

std::unique_ptr<PatchMemory> CudaTexture::make_memory(std::size_t size_bytes) const {
  return std::make_unique<cuda::CudaPatchMemory>(state_->batches->take(device(), size_bytes), state_->batches);
}

std::unique_ptr<HeldPicture> CudaTexture::make_held_picture(const ErrorMeasure& measure) const {
  return std::make_unique<cuda::CudaHeldPicture>(*state_, measure);
}

void CudaTexture::submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t>,
                         PatchBatch& batch) {
  auto* memory = dynamic_cast<cuda::CudaPatchMemory*>(batch.memory());
  if (memory == nullptr) {
    sample(plan, color, batch);
    return;
  }
  check_same_shape(plan, batch);
  // Note [Patches to the host]
  // Written over the bus by the kernel itself: a copy between this launch and the next frame's would empty the device's
  // queue, and where several processes share a device each such gap lasts until all others had their share.
  const CudaDeviceGuard guard = state_->make_current();
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
    state_->plan.send(plan, {}, {}, state_->stream.get());
    state_->sample(color, batch.format(), memory->data());
  }
  memory->written().record(state_->stream.get());
}

void CudaTexture::measure_device() {
  if (!state_->timers.empty()) return;
  for (std::size_t work = 0; work < kDeviceWorks; ++work) state_->timers.emplace_back(device());
}

bool CudaTexture::poll_device_time(DeviceTime& time) {
  for (std::size_t work = 0; work < state_->timers.size(); ++work) {
    if (const auto ns = state_->timers[work].poll_ns()) {
      time = {static_cast<DeviceTime::Work>(work), *ns};
      return true;
    }
  }
  return false;
}

void CudaTexture::read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                              std::ptrdiff_t pitch_bytes) const {
  const auto texel_bytes = static_cast<std::size_t>(check_texels(plane, level, part).texel_bytes());
  if (part.width == 0 || part.height == 0) return;
  const CudaDeviceGuard guard = state_->make_current();
  state_->levels.open();
  cuda_check(
      cudaMemcpy2DFromArrayAsync(out, static_cast<std::size_t>(pitch_bytes), state_->levels.plane(plane).level(level),
                                 static_cast<std::size_t>(part.x) * texel_bytes, static_cast<std::size_t>(part.y),
                                 static_cast<std::size_t>(part.width) * texel_bytes,
                                 static_cast<std::size_t>(part.height), cudaMemcpyDeviceToHost, state_->stream.get()),
      "cudaMemcpy2DFromArrayAsync");
  state_->stream.wait();
}

}  // namespace saccade
