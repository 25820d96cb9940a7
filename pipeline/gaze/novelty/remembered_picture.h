// What the eye has seen of the picture, and how fine: the detail that is there and was not seen is what is new.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/patch_plan.h"
#include "kernels/texture.h"
#include "pipeline/gaze/lattice.h"
#include "pipeline/gaze/novelty/stroke_cue.h"

namespace saccade {

// Note [Remembered picture]
// Luma at half resolution (level 1), as it is and as fixations left it. A patch of level 0 or 1 leaves the picture as
// it is; one of a coarser level leaves what was remembered where its mean is still right, and else that mean alone. Of
// each tile, `unread` is the detail (steps between neighbours, beyond noise) that is there and not remembered, and
// `appeared` the detail that was not there when the eye last chose, and `vanished` the detail that was and is no more.
// All in integers: the same on every backend. Allocates in the constructor alone.
class RememberedPicture {
 public:
  RememberedPicture(TileGrid grid, const FrameGeometry& geometry);

  void forget();
  void note(const Damage& damage);  // every frame: its tiles are compared again
  void read(const Levels& levels);  // the picture as it is now; brings unread() and appeared() up to date
  void see(const PatchPlan& plan);  // what a fixation will show
  std::span<const float> unread() const { return unread_; }      // of each tile: mean codes a texel
  std::span<const float> appeared() const { return appeared_; }  // since the read before; the first time nothing
  std::span<const float> vanished() const { return vanished_; }  // likewise
  std::span<const float> strokes() const { return cue_.strokes(); }

 private:
  void copy_luma(const Levels& levels);
  void compare(std::size_t tile);
  void see_block(int x, int y, int side);

  TileGrid grid_;
  int width_ = 0, height_ = 0;  // texels of level 1, whole tiles
  bool first_ = true;
  LevelImage image_;
  std::vector<std::uint8_t> now_, before_, seen_;  // now_: with a row and a column repeated beyond the last
  std::vector<std::uint8_t> stale_;                // of each tile: must be compared
  std::vector<float> unread_, appeared_, vanished_;
  StrokeCue cue_;
};

}  // namespace saccade
