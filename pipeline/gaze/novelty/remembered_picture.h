// What the eye has seen of the picture, and how fine: the detail that is there and was not seen is what is new.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/patch_plan.h"
#include "kernels/texture.h"
#include "kernels/tile_set.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/novelty/block_sums.h"
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
  // Every frame: its damaged tiles are compared again. Null: not known.
  void note(const Damage* damage);
  void read(const Levels& levels);  // the picture as it is now; brings unread() and appeared() up to date
  void see(const PatchPlan& plan);  // what a fixation will show
  std::span<const float> unread() const { return unread_; }      // of each tile: mean codes a texel
  std::span<const float> appeared() const { return appeared_; }  // since the read before; the first time nothing
  std::span<const float> vanished() const { return vanished_; }  // likewise
  float mean_appeared() const;
  std::span<const float> strokes() const { return cue_.strokes(); }

 private:
  // Texels [left, right) x [top, bottom).
  struct Box {
    int left = 0, top = 0, right = 0, bottom = 0;
  };
  void copy_luma(const Levels& levels);
  void copy_luma(const Levels& levels, const Box& box);
  void convert_luma(const Levels& levels, const Box& box);
  void note_changes();
  void measure(std::size_t row, std::size_t begin, std::size_t end, const std::vector<std::uint8_t>& before,
               int* across, int* down);
  void compare(std::size_t row, std::size_t begin, std::size_t end);
  void see_finely(const Box& box);
  void see_pairs(const Box& box);
  void see_blocks(const Box& box, int side);
  void see_by_sums(const Box& box, int side, int level);
  bool any_stale(const Box& box) const;
  void leave_mean(const Box& box, int sum);
  void note_seen(const Box& box);
  std::size_t texel(int x, int y) const {
    return static_cast<std::size_t>(y) * (static_cast<std::size_t>(width_) + 1) + static_cast<std::size_t>(x);
  }

  CpuOps ops_ = simd_ops();
  TileGrid grid_;
  int width_ = 0, height_ = 0;  // texels of level 1, whole tiles
  bool first_ = true;
  bool unknown_ = false;                           // tiles may have changed that are not noted
  std::vector<std::uint8_t> image_;                // what was read, where it isn't luma of 8 bits at level 1
  std::vector<std::uint8_t> now_, before_, seen_;  // now_: with a row and a column repeated beyond the last
  BlockSums now_sums_, seen_sums_;                 // of tiles that are not stale
  TileSet stale_;                                  // must be compared
  TileSet outdated_;                               // texels that its steps reach have changed since it was compared
  TileSet changed_, changed_before_;      // since the last read, and between the last two: before_ becomes now_
  std::array<std::vector<int>, 5> sums_;  // of a row: across, down, unread, appeared, vanished
  std::vector<float> unread_, appeared_, vanished_;
  std::int64_t appeared_sum_ = 0;
  StrokeCue cue_;
};

}  // namespace saccade
