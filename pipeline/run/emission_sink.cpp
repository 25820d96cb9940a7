#include "pipeline/run/emission_sink.h"

#include <algorithm>
#include <utility>

namespace saccade {

EmissionSink::EmissionSink(Texture& texture, DeviceTexture* device, const Lattice& lattice,
                           const PipelineConfig& config)
    : texture_(texture),
      device_(device),
      lattice_(lattice),
      config_(config),
      all_is_new_(lattice_kind(config.lattice) == LatticeKind::kAdaptive),
      history_(texture.layout(), lattice.patch_count()),
      format_(config.samples),
      emitted_(on_device() ? nullptr : EmittedBytes::of(lattice, config.lattice.patch_size, config.samples)) {}

void EmissionSink::note_frame(const Damage* damage) {
  if (on_device()) return history_.note_frame();
  history_.note_damage(*damage);
}

void EmissionSink::mark(Emission& emission, const ColorSpec& color, const PatchTarget* into) {
  const PatchPlan& plan = emission.plan;
  const SampleFormat& format = into != nullptr ? into->format : config_.samples;
  if (format != format_) history_.forget();
  format_ = format;
  if (all_is_new_ && on_device()) {
    places_.resize(plan.count());
    for (std::size_t n = 0; n < plan.count(); ++n) {
      places_[n] = {.place = static_cast<std::int32_t>(n),
                    .known = plan.patches[n].coverage > 0 ? PlaceRecord::kFresh : PlaceRecord::kUnchanged};
    }
    return device_->reserve_places(plan.count());
  }
  if (all_is_new_) {
    emission.changed.resize(plan.count());
    std::ranges::transform(plan.patches, emission.changed.begin(),
                           [](const Patch& patch) { return static_cast<std::uint8_t>(patch.coverage > 0 ? 1 : 0); });
    return;
  }
  if (!on_device()) return history_.mark(plan, color, emission.changed);
  history_.look_up(plan, color, places_);
  device_->reserve_places(history_.places());
  if (!lattice_.samples_texels()) return;
  if (!slots_ || !slots_->fits(plan.count(), plan.patch_size, format))
    slots_.emplace(plan.count(), plan.patch_size, format);
  slots_->take_all(plan, places_);
  device_->reserve_slots(slots_->slots() * slots_->patch_bytes());
}

void EmissionSink::submit(Emission& emission, const ColorSpec& color, const PatchTarget* into) {
  const PatchPlan& plan = emission.plan;
  if (on_device()) {
    const PyramidLayout& layout = texture_.layout();
    geometry_.resize(plan.count() * 4);
    write_geometry(plan, layout.width_px, layout.height_px, geometry_);
    return device_->submit_to(plan, color, geometry_, places_, *into);
  }
  if (into != nullptr) theirs_ = PatchBatch(plan.count(), plan.patch_size, format_, into->patches);
  PatchBatch& batch = batch_of(emission, into);
  texture_.submit(plan, color, emission.changed, batch);
  if (config_.wait_for_patches) batch.wait();
}

void EmissionSink::settle(Emission& emission, const PatchTarget* into) {
  if (on_device()) return;  // the device has compared
  PatchBatch& batch = batch_of(emission, into);
  const bool there = config_.wait_for_patches || batch.memory() == nullptr;
  const bool fits = emitted_ && emitted_->fits(batch.count(), batch.patch_size(), batch.format());
  if (!fits || (there && unsettled_)) emitted_ = EmittedBytes::of(lattice_, batch.patch_size(), batch.format());
  unsettled_ = !there;
  emission.unsettled = there ? nullptr : emitted_;
  if (there && emitted_) emitted_->settle(emission.plan, batch, emission.changed);
  if (into == nullptr) return;
  if (into->geometry != nullptr) {
    const PyramidLayout& layout = texture_.layout();
    write_geometry(emission.plan, layout.width_px, layout.height_px, {into->geometry, batch.count() * 4});
  }
  if (into->changed != nullptr) std::ranges::copy(emission.changed, into->changed);
  if (into->damaged_tiles != nullptr) *into->damaged_tiles = emission.damaged_tiles;
}

void settle(Emission& emission) {
  emission.batch.wait();
  if (const auto memory = std::exchange(emission.unsettled, nullptr)) {
    memory->settle(emission.plan, emission.batch, emission.changed);
  }
}

}  // namespace saccade
