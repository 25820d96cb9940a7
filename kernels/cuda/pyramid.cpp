#include "kernels/cuda/pyramid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "gpu/cuda/error.h"
#include "kernels/cuda/patch_memory.h"
#include "kernels/cuda/state.h"
#include "kernels/cuda/tile_differ.h"

namespace saccade {

CudaPyramid::CudaPyramid(const PyramidLayout& layout)
    : CudaPyramid(layout, std::make_unique<cuda::OwnArrays>(layout)) {}

CudaPyramid::CudaPyramid(const PyramidLayout& layout, std::unique_ptr<cuda::TextureHome> home)
    : state_(std::make_unique<cuda::CudaState>(layout, std::move(home))) {}

CudaPyramid::~CudaPyramid() { static_cast<void>(cudaStreamSynchronize(state_->stream.get())); }

const PyramidLayout& CudaPyramid::layout() const { return state_->layout; }

std::int64_t CudaPyramid::bytes_of(const Damage& damage, const PyramidLayout& layout) {
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

std::int64_t CudaPyramid::upload_async(const FrameView& frame, const Damage& damage) {
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kUpload);
  state_->run_apply(frame, damage, !state_->staged);
  state_->levels_done = !state_->staged;
  return bytes_of(damage, state_->layout);
}

std::int64_t CudaPyramid::upload(const FrameView& frame, const Damage& damage) {
  const std::int64_t bytes = upload_async(frame, damage);
  wait();
  return bytes;
}

void CudaPyramid::refresh_mips(const Damage& damage) {
  state_->check_damage(damage);
  if (damage.count() == 0 || state_->levels_done) return;
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

void CudaPyramid::reserve_for_host_frames() { state_->reserve_input(); }

void CudaPyramid::note_level0_written() { state_->levels_done = false; }

void CudaPyramid::update_on_card(const FrameView& frame, const DiffConfig& config, bool everything) {
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kUpdate);
  state_->run_diff(frame, config, everything, true);
  state_->levels_done = true;
}

void CudaPyramid::update_async(const FrameView& frame, const DiffConfig& config, bool everything) {
  update_on_card(frame, config, everything);
  state_->fetch_tiles();
}

const Damage& CudaPyramid::finish_update() { return state_->read_damage(); }

void CudaPyramid::sample_on_card(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
  state_->send_plan(plan);
  state_->run_sample(color, format, nullptr);
}

void CudaPyramid::sample_async(const PatchPlan& plan, const ColorSpec& color, const SampleFormat& format) {
  sample_on_card(plan, color, format);
  state_->fetch_batch();
}

void CudaPyramid::finish_sample(PatchBatch& batch) {
  if (batch.bytes().size() != state_->batch_bytes || batch.count() != state_->plan_patches.size() ||
      batch.patch_size() != state_->plan_size || batch.format() != state_->batch_format) {
    throw std::invalid_argument(fmt::format("a batch of {} patches of size {} cannot hold a plan of {} of size {}",
                                            batch.count(), batch.patch_size(), state_->plan_patches.size(),
                                            state_->plan_size));
  }
  state_->batch_read.wait();
  if (state_->batch_bytes > 0) std::memcpy(batch.bytes().data(), state_->batch_host.data(), state_->batch_bytes);
}

namespace {

void check_holds(const PatchPlan& plan, const PatchBatch& batch) {
  if (plan.count() == batch.count() && plan.patch_size == batch.patch_size()) return;
  throw std::invalid_argument(fmt::format("a batch of {} patches of size {} cannot hold a plan of {} of size {}",
                                          batch.count(), batch.patch_size(), plan.count(), plan.patch_size));
}

}  // namespace

void CudaPyramid::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  if (batch.memory() != nullptr) {
    submit(plan, color, batch);
    batch.wait();
    return;
  }
  check_holds(plan, batch);
  sample_async(plan, color, batch.format());
  finish_sample(batch);
}

PatchBatch CudaPyramid::make_batch(std::size_t count, int patch_size, const SampleFormat& format) const {
  const std::size_t bytes = PatchBatch::bytes_of(count, patch_size, format);
  if (bytes == 0) return PatchBatch(count, patch_size, format);
  return PatchBatch(count, patch_size, format, std::make_unique<cuda::CudaPatchMemory>(bytes));
}

void CudaPyramid::submit(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  auto* memory = dynamic_cast<cuda::CudaPatchMemory*>(batch.memory());
  if (memory == nullptr) {
    sample(plan, color, batch);
    return;
  }
  check_holds(plan, batch);
  // Note [Patches to the host]
  // Written over the bus by the kernel itself: a copy between this launch and the next frame's would empty the card's
  // queue, and where several processes share a card each such gap costs a turn of all of them.
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
    state_->send_plan(plan);
    state_->run_sample(color, batch.format(), reinterpret_cast<std::uint8_t*>(memory->data()));
  }
  memory->written().record(state_->stream.get());
}

void CudaPyramid::measure_device() {
  if (!state_->timers) state_->timers = std::make_unique<std::array<CudaTimer, 5>>();
}

bool CudaPyramid::poll_device_time(DeviceTime& time) {
  if (!state_->timers) return false;
  for (std::size_t work = 0; work < state_->timers->size(); ++work) {
    if (const auto ns = (*state_->timers)[work].poll_ns()) {
      time = {static_cast<DeviceTime::Work>(work), *ns};
      return true;
    }
  }
  return false;
}

const void* CudaPyramid::device_patches() const { return state_->batch.data(); }

void CudaPyramid::read_level(int plane, int level, LevelImage& out) const {
  const PyramidLayout& layout = state_->layout;
  if (plane < 0 || plane >= layout.plane_count || level < 0 ||
      level >= layout.planes[static_cast<std::size_t>(plane)].levels) {
    throw std::out_of_range(fmt::format("the texture has no level {} of plane {}", level, plane));
  }
  const PlaneLayout& shape = layout.planes[static_cast<std::size_t>(plane)];
  out.width = shape.width >> level;
  out.height = shape.height >> level;
  out.channels = shape.channels;
  out.bytes_per_channel = shape.bytes_per_channel;
  const std::size_t row_bytes = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(shape.texel_bytes());
  out.data.resize(row_bytes * static_cast<std::size_t>(out.height));
  state_->open_texture();
  wait();
  cuda_check(cudaMemcpy2DFromArray(out.data.data(), row_bytes, state_->home->plane(plane).level(level), 0, 0, row_bytes,
                                   static_cast<std::size_t>(out.height), cudaMemcpyDeviceToHost),
             "cudaMemcpy2DFromArray");
}

void CudaPyramid::set_staged(bool staged) { state_->staged = staged; }
void CudaPyramid::set_sampling(Sampling sampling) { state_->hardware = sampling == Sampling::kHardware; }
void CudaPyramid::wait() const { state_->stream.wait(); }
void* CudaPyramid::stream() const { return state_->stream.get(); }

void CudaPyramid::wait_for_default_stream() { state_->follow_default_stream(); }

void CudaPyramid::wait_for(void* cuda_event) {
  cuda_check(cudaStreamWaitEvent(state_->stream.get(), static_cast<cudaEvent_t>(cuda_event), 0), "cudaStreamWaitEvent");
}

CudaTileDiffer::CudaTileDiffer(CudaPyramid& texture, const DiffConfig& config) : texture_(texture), config_(config) {}

const Damage& CudaTileDiffer::diff(const FrameView& frame) {
  if (frame.space == MemorySpace::kCuda) texture_.wait_for_default_stream();
  {
    const cuda::CudaState::Span span(*texture_.state_, DeviceTime::Work::kDiff);
    texture_.state_->run_diff(frame, config_, everything_, false);
  }
  texture_.state_->fetch_tiles();
  everything_ = false;
  return texture_.state_->read_damage();
}

}  // namespace saccade
