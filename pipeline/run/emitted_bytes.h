// The bytes last emitted at each place: whether a patch that damage came near really came out otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "pipeline/gaze/lattice.h"

namespace saccade {

// Note [What changed]
// PatchHistory knows tiles: a patch is marked when damage touched a tile that it reads, though its samples may have
// come out the same (a neighbour's pixels changed, or a mean absorbed the change). Where the samples' bytes are on the
// host they are compared with those last emitted at this place, and the mark is taken back. Only for lattices that
// sample texels (Lattice::samples_texels): there equal texels give equal bytes and others do not, on every backend, so
// that all agree. Between texels the backends round differently, so there the tiles decide alone, as they do where
// patches stay on a device.
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
  void forget();  // emissions went elsewhere
  bool fits(std::size_t patches_per_emission, int patch_size, const SampleFormat& format) const;

 private:
  struct Place {
    float x_px = 0, y_px = 0, lod = 0;
    std::uint32_t used = 0;  // emission; 0: empty
  };
  std::size_t find(const Patch& patch, bool& known);

  std::size_t patches_;
  int patch_size_;
  SampleFormat format_;
  std::size_t patch_bytes_;
  std::uint32_t emission_ = 0;
  std::vector<Place> places_;  // empty: an emission is too large to be remembered
  std::size_t bucket_mask_ = 0;
  std::unique_ptr<std::byte[]> bytes_;  // of each place
};

}  // namespace saccade
