// From a frame's place of fixation to an emission, in memory of the pipeline's or of the caller's.
#include <fmt/format.h>

#include <array>

#include "gpu/nvtx_range.h"
#include "pipeline/error.h"
#include "pipeline/run/pipeline_state.h"

namespace saccade {
namespace {

// Codes of 8-bit luma from black to white, as a texture of this format has them.
int luma_span(TextureFormat format, const ColorSpec& color) {
  return format == TextureFormat::kRgba8 || color.range == ColorRange::kFull ? 255 : 219;
}

}  // namespace

// A texture's damage can stay on the device where one step finds and uses it.
bool Pipeline::can_emit_to_device() const { return state_->can.staged == nullptr && state_->can.device != nullptr; }

void Pipeline::check_target(const PatchTarget& into) const {
  if (into.space != MemorySpace::kCuda) return;
  if (!can_emit_to_device()) {
    throw UnavailableError(fmt::format("backend {}{} can't write into a device's memory", name(config_.backend),
                                       state_->can.staged != nullptr ? ", staged," : ""),
                           Hint::kCudaBackend);
  }
  const DeviceTexture& texture = *state_->can.device;
  if (texture.device() != into.device) {
    throw UsageError(
        fmt::format("the texture is on device {}, the memory for patches on device {}", texture.device(), into.device));
  }
  const std::array<const void*, 4> pointers{into.patches, into.geometry, into.changed, into.damaged_tiles};
  for (const void* pointer : pointers) {
    if (pointer == nullptr || texture.is_device_memory(pointer)) continue;
    throw UsageError(fmt::format("the target buffer is not on CUDA device {}", into.device));
  }
}

void Pipeline::check_device_frame(int device, std::span<const PlaneView> planes) const {
  const DeviceTexture* const texture = state_->can.device;
  if (texture == nullptr) {
    throw UnavailableError(fmt::format("backend {} can't read frames on a device", name(config_.backend)),
                           Hint::kCudaBackend);
  }
  if (texture->device() != device) {
    throw UsageError(fmt::format("the texture is on device {}, the frame on device {}", texture->device(), device));
  }
  for (const PlaneView& plane : planes) {
    if (plane.data == nullptr || texture->is_device_memory(plane.data)) continue;
    throw UsageError(fmt::format("a frame's plane is not on CUDA device {}", device));
  }
}

Emission Pipeline::new_emission() const {
  Emission emission;
  const std::size_t count = lattice().patch_count();
  emission.batch = state_->texture->make_batch(count, config_.lattice.patch_size, config_.samples);
  emission.plan.patch_size = config_.lattice.patch_size;
  emission.plan.patches.reserve(count);
  emission.changed.resize(count);
  return emission;
}

// Of the emission that is due; the way is the same wherever its bytes go.
void Pipeline::sample_due(Emission& emission, const PatchTarget* into) {
  const NvtxRange range("sample");
  State& s = *state_;
  const bool to_device = is_on_device(into);
  s.place_emissions(to_device);
  const int size = config_.lattice.patch_size;
  const bool fits = emission.batch.count() == s.lattice->patch_count() && emission.plan.patch_size == size &&
                    emission.batch.format() == config_.samples;
  if (into == nullptr && !fits) emission = new_emission();
  const State::Due& due = *s.due;
  emission.frame = due.frame;
  emission.pts_ns = due.pts_ns;
  emission.fix_u = due.gaze.u;
  emission.fix_v = due.gaze.v;
  emission.pointer_u = due.cues.pointer_u;
  emission.pointer_v = due.cues.pointer_v;
  emission.in_flight = due.gaze.in_flight;
  emission.damaged_tiles = due.damaged_tiles >= 0 || to_device ? due.damaged_tiles : damage().count();
  emission.plan.patch_size = size;
  if (s.allocator) {
    s.allocator->look(due.pts_ns, due.gaze.u, due.gaze.v, luma_span(s.layout.format, due.color), emission.plan);
  } else {
    s.lattice->plan(due.gaze.u, due.gaze.v, emission.plan);
  }
  s.sink->mark(emission, due.color, into);
  s.sink->submit(emission, due.color, into);
  s.sink->settle(emission, into);
  s.due.reset();
  if (again_) return;
  ++counters_.emissions;
  counters_.patches += static_cast<std::int64_t>(emission.plan.count());
  if (to_device) return;
  for (const std::uint8_t changed : emission.changed) counters_.patches_changed += changed;
}

}  // namespace saccade
