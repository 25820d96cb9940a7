// The bytes last emitted at each place: whether a patch that damage came near really came out otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/run/changed/emitted_places.h"

namespace saccade {

// Note [What changed]
// PatchHistory knows tiles: a patch is marked when damage touched a tile that it reads, though its samples may have
// come out the same (a neighbour's pixels changed, or a mean absorbed the change). So the samples' bytes are compared
// with those last emitted at this place, and the mark is taken back: on the host, or on the device where they stay.
// Only for lattices that sample texels (Lattice::samples_texels): there equal texels give equal bytes and others do
// not, on every backend, so that all agree. Between texels the backends round differently: there the tiles decide.
//
// A cache of a fixed size (32 emissions, at most 32 MiB); a place that it lost stays marked. Settles emissions in
// their order, each once, on one thread at a time. Allocates in the constructor only.
class EmittedBytes {
 public:
  // Null: the lattice mixes texels, so that bytes say nothing.
  static std::shared_ptr<EmittedBytes> of(const Lattice& lattice, int patch_size, const SampleFormat& format);
  EmittedBytes(std::size_t patches_per_emission, int patch_size, const SampleFormat& format);
  // After the batch's bytes are there: changed[n] becomes 0 where they are those that were last emitted there.
  void settle(const PatchPlan& plan, const PatchBatch& batch, std::span<std::uint8_t> changed);
  bool fits(std::size_t patches_per_emission, int patch_size, const SampleFormat& format) const {
    return places_.fits(patches_per_emission, patch_size, format);
  }

 private:
  EmittedPlaces places_;
  std::unique_ptr<std::byte[]> bytes_;  // of each slot
};

}  // namespace saccade
