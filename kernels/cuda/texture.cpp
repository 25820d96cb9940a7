#include "kernels/cuda/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/cuda/state.h"

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
  const CudaDeviceGuard guard(state_->device, std::nothrow);
  static_cast<void>(cudaStreamSynchronize(state_->stream.get()));
  state_.reset();
}

const PyramidLayout& CudaTexture::layout() const { return state_->layout; }

std::int64_t CudaTexture::bytes_of(const Damage& damage, const PyramidLayout& layout) {
  std::int64_t tile_bytes = 0;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    tile_bytes += std::int64_t{plane.tile_size()} * plane.tile_size() * plane.texel_bytes();
  }
  const TileGrid tiles = layout.tiles;
  const int extra_cols = layout.padded_tiles.cols - tiles.cols;
  const int extra_rows = layout.padded_tiles.rows - tiles.rows;
  std::int64_t count = 0;
  damage.for_each([&](int index) {
    const int across = index % tiles.cols == tiles.cols - 1 ? 1 + extra_cols : 1;
    const int down = index / tiles.cols == tiles.rows - 1 ? 1 + extra_rows : 1;
    count += std::int64_t{across} * down;
  });
  return count * tile_bytes;
}

void CudaTexture::update(const FrameView& frame) {
  if (state_->staged) {
    const Damage& found = diff(frame);
    upload(frame, found);
    refresh_mips(found);
    return;
  }
  const CudaDeviceGuard guard = state_->on_device();
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kUpdate);
  state_->run_diff(frame, true);
  state_->levels_done = true;
}

const Damage& CudaTexture::damage() {
  const CudaDeviceGuard guard = state_->on_device();
  return state_->read_damage();
}

std::int64_t CudaTexture::bytes_written() { return bytes_of(damage(), state_->layout); }
void CudaTexture::damage_everything() { state_->everything_next = true; }
void CudaTexture::configure(const DiffConfig& config) { state_->diff = config; }

bool CudaTexture::start_over(const DiffConfig& config) {
  if (!state_->timers.empty()) return false;
  wait();
  state_->start_over(config);
  return true;
}

StagedTexture* CudaTexture::staged() { return state_->staged ? this : nullptr; }

const Damage& CudaTexture::diff(const FrameView& frame) {
  const CudaDeviceGuard guard = state_->on_device();
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kDiff);
    state_->run_diff(frame, false);
  }
  return state_->read_damage();
}

std::int64_t CudaTexture::upload_async(const FrameView& frame, const Damage& damage) {
  const CudaDeviceGuard guard = state_->on_device();
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kUpload);
  state_->run_apply(frame, damage, !state_->staged);
  state_->levels_done = !state_->staged;
  return bytes_of(damage, state_->layout);
}

std::int64_t CudaTexture::upload(const FrameView& frame, const Damage& damage) {
  const std::int64_t bytes = upload_async(frame, damage);
  wait();
  return bytes;
}

void CudaTexture::refresh_mips(const Damage& damage) {
  check_damage(damage, state_->layout);
  if (damage.count() == 0 || state_->levels_done) return;
  const CudaDeviceGuard guard = state_->on_device();
  state_->open_texture();
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kMips);
  state_->send_tiles(damage);
  const cuda::ApplyParams apply{state_->packed.as<std::uint32_t>(), false, false, true};
  const PixelLayout any = state_->layout.format == TextureFormat::kRgba8   ? PixelLayout::kRgba8
                          : state_->layout.format == TextureFormat::kYuv16 ? PixelLayout::kP016
                                                                           : PixelLayout::kNv12;
  cuda::launch_apply(any, state_->texture, {}, apply, state_->stream.get());
  wait();
}

void CudaTexture::reserve_for_host_frames() {
  const CudaDeviceGuard guard = state_->on_device();
  state_->reserve_input();
}

void CudaTexture::note_level0_written() { state_->levels_done = false; }

void CudaTexture::sample_on_device(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  const CudaDeviceGuard guard = state_->on_device();
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
  state_->send_plan(plan);
  state_->run_sample(color, format, nullptr);
}

void CudaTexture::sample_async(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  const CudaDeviceGuard guard = state_->on_device();
  sample_on_device(plan, color, format);
  state_->fetch_batch();
}

void CudaTexture::finish_sample(PatchBatch& batch) {
  if (batch.bytes().size() != state_->batch_bytes || batch.count() != state_->plan_patches.size() ||
      batch.patch_size() != state_->plan_size || batch.format() != state_->batch_format) {
    throw std::invalid_argument(fmt::format("a batch of {} patches of size {} cannot hold a plan of {} of size {}",
                                            batch.count(), batch.patch_size(), state_->plan_patches.size(),
                                            state_->plan_size));
  }
  state_->batch_read.wait();
  if (state_->batch_bytes > 0) std::memcpy(batch.bytes().data(), state_->batch_host.data(), state_->batch_bytes);
}

void CudaTexture::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  if (batch.memory() != nullptr) {
    submit(plan, color, {}, batch);
    batch.wait();
    return;
  }
  check_same_shape(plan, batch);
  sample_async(plan, color, batch.format());
  finish_sample(batch);
}

PatchBatch CudaTexture::make_batch(std::size_t count, int patch_size, const SampleFormat& format) const {
  const std::size_t bytes = PatchBatch::bytes_of(count, patch_size, format);
  if (bytes == 0) return PatchBatch(count, patch_size, format);
  auto memory = std::make_unique<cuda::CudaPatchMemory>(state_->batches->take(state_->device, bytes), state_->batches);
  return PatchBatch(count, patch_size, format, std::move(memory));
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
  const CudaDeviceGuard guard = state_->on_device();
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
    state_->send_plan(plan);
    state_->run_sample(color, batch.format(), reinterpret_cast<std::uint8_t*>(memory->data()));
  }
  memory->written().record(state_->stream.get());
}

void CudaTexture::measure_device() {
  if (!state_->timers.empty()) return;
  for (std::size_t work = 0; work < kDeviceWorks; ++work) state_->timers.emplace_back(state_->device);
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
  const CudaDeviceGuard guard = state_->on_device();
  state_->open_texture();
  cuda_check(
      cudaMemcpy2DFromArrayAsync(out, static_cast<std::size_t>(pitch_bytes), state_->storage->plane(plane).level(level),
                                 static_cast<std::size_t>(part.x) * texel_bytes, static_cast<std::size_t>(part.y),
                                 static_cast<std::size_t>(part.width) * texel_bytes,
                                 static_cast<std::size_t>(part.height), cudaMemcpyDeviceToHost, state_->stream.get()),
      "cudaMemcpy2DFromArrayAsync");
  wait();
}

void CudaTexture::set_sampling(Sampling sampling) { state_->hardware = sampling == Sampling::kHardware; }
void CudaTexture::wait() const { state_->stream.wait(); }
void* CudaTexture::stream() const { return state_->stream.get(); }

void CudaTexture::wait_for_frame(const FrameView& frame) { state_->follow(frame); }

void CudaTexture::wait_for(void* cuda_event) {
  const CudaDeviceGuard guard = state_->on_device();
  cuda_check(cudaStreamWaitEvent(state_->stream.get(), static_cast<cudaEvent_t>(cuda_event), 0), "cudaStreamWaitEvent");
}

}  // namespace saccade
