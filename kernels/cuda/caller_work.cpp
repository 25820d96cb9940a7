#include "kernels/cuda/caller_work.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/state.h"
#include "kernels/cuda/texture.h"

namespace saccade {

namespace cuda {

std::shared_ptr<CallerWork::Mark> CallerWork::free_mark(int device) {
  const auto unused = std::find_if(marks.begin(), marks.end(), [](const auto& mark) { return mark.use_count() == 1; });
  if (unused != marks.end()) return *unused;
  marks.push_back(std::make_shared<Mark>(device));
  return marks.back();
}

CallerWork& CudaState::caller_work() {
  if (!caller) caller = std::make_unique<CallerWork>(device, layout, stream.get());
  return *caller;
}

// Copies what changed of plan, places and geometry: one block of memory, so one copy. It is not ordered after the
// caller's work, only after the texture's own.
void CudaState::send_emission(const PatchPlan& plan, std::span<const float> geometry,
                              std::span<const PlaceRecord> places) {
  CallerWork& work = caller_work();
  if (plan.patch_size == plan_size && plan.patches == plan_patches &&
      std::ranges::equal(places, work.sent_places, same_place)) {
    return;
  }
  const std::size_t count = plan.count();
  CallerWork::Upload& to = work.uploads[work.upload++ % work.uploads.size()];
  to.copied.wait();
  const std::size_t bytes = count * kPlanBytes;
  if (to.bytes.size_bytes() < bytes) {  // all at once: taking page-locked memory may wait for the device
    for (CallerWork::Upload& each : work.uploads) {
      each.copied.wait();
      each.bytes = PinnedBuffer(device, bytes);
    }
  }
  reserve_plan(count);
  write_records(plan, to.bytes.as<PatchRecord>());
  std::memcpy(to.bytes.data() + places_offset(count), places.data(), places.size_bytes());
  std::memcpy(to.bytes.data() + geometry_offset(count), geometry.data(), geometry.size_bytes());
  cuda_check(cudaMemcpyAsync(plan_device.data(), to.bytes.data(), bytes, cudaMemcpyHostToDevice, stream.get()),
             "cudaMemcpyAsync");
  to.copied.record(stream.get());
  plan_patches = plan.patches;
  plan_size = plan.patch_size;
  work.sent_places.assign(places.begin(), places.end());
}

}  // namespace cuda

DeviceTexture* CudaTexture::device_texture() { return this; }
int CudaTexture::device() const { return state_->device; }

bool CudaTexture::is_device_memory(const void* pointer) const {
  const CudaDeviceGuard guard = state_->on_device();
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  const bool on_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device && attributes.device == state_->device;
}

void CudaTexture::note_damage() {
  const CudaDeviceGuard guard = state_->on_device();
  state_->caller_work().places.note(state_->diff_tiles.as<std::uint32_t>(), state_->stream.get());
}

void CudaTexture::reserve_places(std::size_t places) {
  const CudaDeviceGuard guard = state_->on_device();
  state_->caller_work().places.reserve(places, state_->stream.get());
}

void CudaTexture::reserve_slots(std::size_t bytes) {
  const CudaDeviceGuard guard = state_->on_device();
  state_->caller_work().places.reserve_slots(bytes);
}

// Note [Order with the caller]
// The caller's stream C may still read or write the target: the texture's stream P waits for what C has queued, writes,
// and C waits for P. Both are events on the device. Only the upload of the plan comes before C's work.
void CudaTexture::submit_to(const PatchPlan& plan, const ColorSpec& color, std::span<const float> geometry,
                            std::span<const PlaceRecord> places, const PatchTarget& target) {
  const CudaDeviceGuard guard = state_->on_device();
  cuda::CallerWork& work = state_->caller_work();
  cudaStream_t own = state_->stream.get();
  auto* const theirs = static_cast<cudaStream_t>(target.stream);
  state_->send_emission(plan, geometry, places);
  work.theirs.record(theirs);
  work.theirs.make_wait(own);
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
    if (target.geometry != nullptr) {
      cuda_check(cudaMemcpyAsync(target.geometry, state_->plan_device.data() + cuda::geometry_offset(plan.count()),
                                 geometry.size_bytes(), cudaMemcpyDeviceToDevice, own),
                 "cudaMemcpyAsync");
    }
    const auto* const records =
        reinterpret_cast<const PlaceRecord*>(state_->plan_device.data() + cuda::places_offset(plan.count()));
    const cuda::EmissionFacts facts{records, static_cast<int>(plan.count()), target.changed, target.damaged_tiles};
    work.places.mark(facts, own);
    state_->run_sample(color, target.format, reinterpret_cast<std::uint8_t*>(target.patches));
    if (std::ranges::any_of(places, [](const PlaceRecord& place) { return place.slot >= 0; })) {
      work.places.compare(facts, target.patches, PatchBatch::bytes_of(1, plan.patch_size, target.format), own);
    }
  }
  work.ours.record(own);
  work.ours.make_wait(theirs);
}

void CudaTexture::give_back(void* stream) {
  const CudaDeviceGuard guard = state_->on_device();
  cuda::CallerWork& work = state_->caller_work();
  work.ours.record(state_->stream.get());
  work.ours.make_wait(static_cast<cudaStream_t>(stream));
}

std::shared_ptr<const DeviceMark> CudaTexture::reading() {
  if (!state_->reads_frame) return nullptr;
  const CudaDeviceGuard guard = state_->on_device();
  auto mark = state_->caller_work().free_mark(state_->device);
  mark->record(state_->stream.get());
  return mark;
}

DeviceTotals CudaTexture::totals() {
  const CudaDeviceGuard guard = state_->on_device();
  return state_->caller_work().places.totals(state_->stream.get());
}

}  // namespace saccade
