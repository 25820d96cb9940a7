// Remembers what was emitted where, to say whether a patch changed since.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/damage.h"
#include "kernels/device_texture.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

// The image tiles that the samples of a patch read, at every level and in every plane: [begin, end) per axis.
struct TileFootprint {
  int col_begin = 0, col_end = 0;
  int row_begin = 0, row_end = 0;
};
TileFootprint patch_footprint(const Patch& patch, int patch_size, const ColorSpec& color, const PyramidLayout& layout);

// Of a patch's place: centre and lod, to the bit.
std::uint64_t place_hash(const Patch& patch);

// A patch is unchanged when the same place (centre and lod, to the bit) was emitted before and no tile that any of its
// samples reads was damaged since: then its samples are the same bytes. One outside the frame reads nothing. The memory
// of places is a cache of a fixed size, with a part of its own for those outside; a place that fell out of it counts as
// changed, and so does everything after a change of colour or patch size.
// Allocates in the constructor only (and in mark() when `changed` has no room).
class PatchHistory {
 public:
  PatchHistory(const PyramidLayout& layout, std::size_t patches_per_emission);
  void note_damage(const Damage& damage);  // once per frame, before mark()
  void mark(const PatchPlan& plan, const ColorSpec& color, std::vector<std::uint8_t>& changed);  // once per emission
  void forget();  // everything counts as changed

  // Variants used while the damage stays on the device (DeviceTexture): they do everything except look at it. forget()
  // between the two kinds.
  void note_frame();
  void look_up(const PatchPlan& plan, const ColorSpec& color, std::vector<PlaceRecord>& out);
  std::size_t places() const { return places_.size(); }

 private:
  struct Place {
    float x_px = 0, y_px = 0, lod = 0;
    std::uint32_t emitted = 0;  // value of clock_ at the emission; 0: empty
  };
  static constexpr std::size_t kWays = 4;

  bool touched_since(const Patch& patch, int patch_size, const ColorSpec& color, std::uint32_t emitted) const;
  void begin(const PatchPlan& plan, const ColorSpec& color);  // an emission
  Place& find(const Patch& patch);                            // the patch's place, or the one to give up for it

  PyramidLayout layout_;
  std::uint32_t clock_ = 1;                // frames noted, from 1
  std::vector<std::uint32_t> damaged_at_;  // per tile: value of clock_ at its last damage
  std::vector<Place> places_;              // kWays per bucket; first those inside, then those outside
  std::size_t bucket_mask_ = 0;            // of either part
  ColorSpec color_;
  int patch_size_ = 0;
};

}  // namespace saccade
