// From a frame's place of fixation to an emission: plan, marks and patches, on the host or in a device's memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gpu/nvtx_range.h"
#include "pipeline/error.h"
#include "pipeline/run/pipeline_state.h"

namespace saccade {

bool Pipeline::can_emit_to_device() const {
  return state_->texture->staged() == nullptr && state_->texture->device_texture() != nullptr;
}

void Pipeline::check_target(const PatchTarget& into) const {
  if (into.space != MemorySpace::kCuda) return;
  if (!can_emit_to_device()) {
    throw UnavailableError(fmt::format("backend {}{} can't write into a device's memory", name(config_.backend),
                                       state_->texture->staged() != nullptr ? ", staged," : ""),
                           Hint::kCudaBackend);
  }
  const DeviceTexture& texture = *state_->texture->device_texture();
  if (texture.device() != into.device) {
    throw UsageError(
        fmt::format("the texture is on device {}, the memory for patches on device {}", texture.device(), into.device));
  }
  const std::array<const void*, 4> pointers{into.patches, into.geometry, into.changed, into.damaged_tiles};
  for (const void* pointer : pointers) {
    if (pointer == nullptr || texture.is_device_memory(pointer)) continue;
    throw UsageError(fmt::format("memory for an emission is no memory of device {}", into.device));
  }
}

void Pipeline::note_places_on_device(bool on_device) {
  if (on_device == state_->on_device) return;
  state_->history.forget();
  state_->emitted.reset();
  state_->device_emitted.reset();
  state_->on_device = on_device;
  state_->device_counts |= on_device;
}

void Pipeline::sample(Emission& emission, const PatchTarget* into) {
  const NvtxRange range("sample");
  State& s = *state_;
  const bool to_device = into != nullptr && into->space == MemorySpace::kCuda;
  note_places_on_device(to_device);
  const SampleFormat& format = into != nullptr ? into->format : config_.samples;
  if (format != s.emitted_as) s.history.forget();
  s.emitted_as = format;
  fill_emission(emission, into);
  const State::Due& due = *s.due;
  emission.frame = due.frame;
  emission.pts_ns = due.pts_ns;
  emission.fix_u = due.gaze.u;
  emission.fix_v = due.gaze.v;
  emission.in_flight = due.gaze.in_flight;
  emission.damaged_tiles = due.damaged_tiles >= 0 || to_device ? due.damaged_tiles : damage().count();
  if (into != nullptr && !to_device && into->damaged_tiles != nullptr) *into->damaged_tiles = emission.damaged_tiles;
  s.due.reset();
  ++counters_.emissions;
  counters_.patches += static_cast<std::int64_t>(emission.plan.count());
  if (to_device) return;
  for (const std::uint8_t changed : emission.changed) counters_.patches_changed += changed;
}

void Pipeline::fill_emission(Emission& emission, const PatchTarget* into) {
  State& s = *state_;
  const Gaze& gaze = s.due->gaze;
  const ColorSpec& color = s.due->color;
  const std::size_t count = s.lattice->patch_count();
  const int size = config_.lattice.patch_size;
  if (into == nullptr) {
    const bool fits = emission.batch.count() == count && emission.plan.patch_size == size &&
                      emission.batch.format() == config_.samples;
    if (!fits) emission = new_emission();
    s.lattice->plan(gaze.u, gaze.v, emission.plan);
    s.history.mark(emission.plan, color, emission.changed);
    s.texture->submit(emission.plan, color, emission.changed, emission.batch);
    if (config_.wait_for_patches) emission.batch.wait();
    compare_bytes(emission.batch, emission);
    return;
  }
  emission.plan.patch_size = size;
  s.lattice->plan(gaze.u, gaze.v, emission.plan);
  if (into->space == MemorySpace::kCuda) return sample_to_device(emission, *into);
  s.history.mark(emission.plan, color, emission.changed);
  PatchBatch batch(count, size, into->format, into->patches);
  s.texture->submit(emission.plan, color, emission.changed, batch);
  compare_bytes(batch, emission);
  if (into->geometry != nullptr) {
    write_geometry(emission.plan, s.layout.width_px, s.layout.height_px, {into->geometry, count * 4});
  }
  if (into->changed != nullptr) std::copy(emission.changed.begin(), emission.changed.end(), into->changed);
}

// Bytes that are on their way yet are the emission's taker's to compare: settle().
void Pipeline::compare_bytes(PatchBatch& batch, Emission& emission) {
  State& s = *state_;
  const bool there = config_.wait_for_patches || batch.memory() == nullptr;
  const bool fits = s.emitted && s.emitted->fits(batch.count(), batch.patch_size(), batch.format());
  if (!fits || (there && s.unsettled)) s.emitted = EmittedBytes::of(*s.lattice, batch.patch_size(), batch.format());
  s.unsettled = !there;
  emission.unsettled = there ? nullptr : s.emitted;
  if (there && s.emitted) s.emitted->settle(emission.plan, batch, emission.changed);
}

// Where the device keeps the bytes of these patches; see Note [What changed].
void Pipeline::place_bytes(const PatchPlan& plan, const SampleFormat& format) {
  State& s = *state_;
  if (!s.lattice->samples_texels()) return;
  if (!s.device_emitted || !s.device_emitted->fits(plan.count(), plan.patch_size, format))
    s.device_emitted.emplace(plan.count(), plan.patch_size, format);
  s.device_emitted->take_all(plan, s.places);
  s.texture->device_texture()->reserve_slots(s.device_emitted->slots() * s.device_emitted->patch_bytes());
}

void Pipeline::sample_to_device(Emission& emission, const PatchTarget& into) {
  State& s = *state_;
  DeviceTexture& device = *s.texture->device_texture();
  s.geometry.resize(emission.plan.count() * 4);
  write_geometry(emission.plan, s.layout.width_px, s.layout.height_px, s.geometry);
  s.history.look_up(emission.plan, s.due->color, s.places);
  device.reserve_places(s.history.places());
  place_bytes(emission.plan, into.format);
  device.submit_to(emission.plan, s.due->color, s.geometry, s.places, into);
}

void settle(Emission& emission) {
  emission.batch.wait();
  if (const auto memory = std::exchange(emission.unsettled, nullptr)) {
    memory->settle(emission.plan, emission.batch, emission.changed);
  }
}

}  // namespace saccade
