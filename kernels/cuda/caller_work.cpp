#include "kernels/cuda/caller_work.h"

#include <algorithm>

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

}  // namespace cuda

int CudaTexture::device() const { return state_->stream.device(); }

bool CudaTexture::is_device_memory(const void* pointer) const {
  const CudaDeviceGuard guard = state_->make_current();
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  const bool on_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device && attributes.device == device();
}

void CudaTexture::note_damage() {
  const CudaDeviceGuard guard = state_->make_current();
  state_->caller_work().places.note(state_->differ.tiles(), state_->stream.get());
}

void CudaTexture::reserve_places(std::size_t places) {
  const CudaDeviceGuard guard = state_->make_current();
  state_->caller_work().places.reserve(places, state_->stream.get());
}

void CudaTexture::reserve_slots(std::size_t bytes) {
  const CudaDeviceGuard guard = state_->make_current();
  state_->caller_work().places.reserve_slots(bytes);
}

// Note [Order with the caller]
// The caller's stream C may still read or write the target: the texture's stream P waits for what C has queued, writes,
// and C waits for P. Both are events on the device. Only the upload of the plan comes before C's work.
void CudaTexture::submit_to(const PatchPlan& plan, const ColorSpec& color, std::span<const float> geometry,
                            std::span<const PlaceRecord> places, const PatchTarget& target) {
  const CudaDeviceGuard guard = state_->make_current();
  cuda::CallerWork& work = state_->caller_work();
  cudaStream_t own = state_->stream.get();
  auto* const theirs = static_cast<cudaStream_t>(target.stream);
  state_->plan.send(plan, places, geometry, own);
  work.theirs.record(theirs);
  work.theirs.make_wait(own);
  {
    const cuda::CudaState::Span span(*state_, DeviceTime::Work::kSample);
    if (target.geometry != nullptr) {
      cuda_check(cudaMemcpyAsync(target.geometry, state_->plan.geometry(), geometry.size_bytes(),
                                 cudaMemcpyDeviceToDevice, own),
                 "cudaMemcpyAsync");
    }
    const cuda::EmissionFacts facts{state_->plan.places(), static_cast<int>(plan.count()), target.changed,
                                    target.damaged_tiles};
    work.places.mark(facts, own);
    state_->sample(color, target.format, target.patches);
    if (std::ranges::any_of(places, [](const PlaceRecord& place) { return place.slot >= 0; })) {
      work.places.compare(facts, target.patches, PatchBatch::bytes_of(1, plan.patch_size, target.format), own);
    }
  }
  work.ours.record(own);
  work.ours.make_wait(theirs);
}

void CudaTexture::give_back(void* stream) {
  const CudaDeviceGuard guard = state_->make_current();
  cuda::CallerWork& work = state_->caller_work();
  work.ours.record(state_->stream.get());
  work.ours.make_wait(static_cast<cudaStream_t>(stream));
}

std::shared_ptr<const DeviceMark> CudaTexture::reading() {
  if (!state_->intake.reads_frame()) return nullptr;
  const CudaDeviceGuard guard = state_->make_current();
  auto mark = state_->caller_work().free_mark(device());
  mark->record(state_->stream.get());
  return mark;
}

DeviceTotals CudaTexture::totals() {
  const CudaDeviceGuard guard = state_->make_current();
  return state_->caller_work().places.totals(state_->stream.get());
}

}  // namespace saccade
