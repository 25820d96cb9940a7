// Where the bytes of emissions go: to the host, to the host later, or into a device's memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/device_texture.h"
#include "kernels/texture.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/run/changed/emitted_bytes.h"
#include "pipeline/run/changed/emitted_places.h"
#include "pipeline/run/changed/patch_history.h"
#include "pipeline/run/pipeline.h"

namespace saccade {

// What changed is decided where the bytes are, by what went there before: a new sink remembers nothing. Allocates
// nothing once emissions have come. One thread.
class EmissionSink {
 public:
  // device: emissions go into its memory; null: to the host. All that is given outlives the sink.
  EmissionSink(Texture& texture, DeviceTexture* device, const Lattice& lattice, const PipelineConfig& config);

  bool on_device() const { return device_ != nullptr; }
  void note_frame(const Damage* damage);       // once a frame; null: the damage stays on the device
  void forget_places() { history_.forget(); }  // every patch of the next emission counts as changed

  // One after the other, once an emission, whose plan is made. into: as in Pipeline::step(); a device's is never null.
  // mark() looks up what is known of each patch's place, submit() asks the texture for the samples, and settle()
  // compares their bytes where they are there (Note [What changed]); else it leaves Emission::unsettled.
  void mark(Emission& emission, const ColorSpec& color, const PatchTarget* into);
  void submit(Emission& emission, const ColorSpec& color, const PatchTarget* into);
  void settle(Emission& emission, const PatchTarget* into);

 private:
  PatchBatch& batch_of(Emission& emission, const PatchTarget* into) { return into ? theirs_ : emission.batch; }

  Texture& texture_;
  DeviceTexture* device_;
  const Lattice& lattice_;
  const PipelineConfig& config_;
  bool all_is_new_;  // what an allocator sends, inside the frame
  PatchHistory history_;
  SampleFormat format_;  // of the last emission
  // To the host
  std::shared_ptr<EmittedBytes> emitted_;  // null: the lattice mixes texels
  bool unsettled_ = false;                 // emissions went out before their bytes were there
  PatchBatch theirs_;                      // in the caller's memory
  // To a device
  std::optional<EmittedPlaces> slots_;  // where the device keeps the bytes
  std::vector<PlaceRecord> places_;
  std::vector<float> geometry_;
};

}  // namespace saccade
