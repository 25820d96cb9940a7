// Which places' bytes are remembered, and where: a cache of a fixed size. It knows no bytes: those lie on the host
// (EmittedBytes) or on a device (kernels/device_texture.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device_texture.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"

namespace saccade {

class EmittedPlaces {
 public:
  // Where the bytes of a patch are kept.
  struct Slot {
    std::int32_t index = -1;  // in [0, slots()); -1: nowhere
    bool known = false;       // those of this very place are there
  };

  enum class Sharing : std::uint8_t { kAllowed, kRefused };

  EmittedPlaces(std::size_t patches_per_emission, int patch_size, const SampleFormat& format);
  bool fits(std::size_t patches_per_emission, int patch_size, const SampleFormat& format) const;

  void begin();  // an emission; then take() for each of its patches, in their order
  // No slot for a patch outside the frame, whose bytes are the same for ever; with kRefused none that another patch of
  // this emission has.
  Slot take(const Patch& patch, Sharing sharing);
  // begin(), and slots for all patches of a plan into their records. Each is one patch's alone, so that all may be
  // compared at once.
  void take_all(const PatchPlan& plan, std::vector<PlaceRecord>& records);

  std::size_t slots() const { return places_.size(); }  // 0: an emission is too large to be remembered
  std::size_t patch_bytes() const { return patch_bytes_; }

 private:
  void forget();
  struct Place {
    float x_px = 0, y_px = 0, lod = 0;
    std::uint32_t used = 0;  // emission; 0: empty
  };

  std::size_t patches_;
  int patch_size_;
  SampleFormat format_;
  std::size_t patch_bytes_;
  std::uint32_t emission_ = 0;
  std::vector<Place> places_;
  std::size_t bucket_mask_ = 0;
};

}  // namespace saccade
