// Remembers what was emitted where, to say whether a patch changed since.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/damage.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

// A patch is unchanged when the same place (centre and lod, to the bit) was emitted before and no tile that any of its
// samples reads was damaged since: then its samples are the same bytes. The memory of places is a fixed-size cache; a
// place that fell out of it counts as changed. Allocates in the constructor only.
class PatchHistory {
 public:
  PatchHistory(const PyramidLayout& layout, std::size_t patches_per_emission);
  void note_damage(const Damage& damage);                                   // once per frame, before mark()
  void mark(const PatchPlan& plan, const ColorSpec& color, std::vector<std::uint8_t>& changed);  // once per emission
  void forget();                                                            // everything counts as changed

 private:
  struct Place {
    float x_px = 0, y_px = 0, lod = -1;
    std::int64_t emitted = -1;  // value of clock_ at the emission; -1: empty
  };
  bool touched_since(const Patch& patch, int patch_size, const ColorSpec& color, std::int64_t emitted) const;
  Place& find(const Patch& patch);

  PyramidLayout layout_;
  std::int64_t clock_ = 0;
  std::vector<std::int64_t> damaged_at_;  // per tile
  std::vector<Place> places_;
};

}  // namespace saccade
