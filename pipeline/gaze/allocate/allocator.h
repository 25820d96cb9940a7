// Lattice `adaptive`: each look sends the squares that bring the receiver's picture nearest to the frame.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/held_picture.h"
#include "kernels/patch_plan.h"
#include "pipeline/gaze/allocate/choice.h"
#include "pipeline/gaze/ignore.h"
#include "pipeline/gaze/lattice/lattice.h"
#include "pipeline/gaze/weights/cues.h"
#include "pipeline/gaze/weights/fatigue.h"
#include "pipeline/gaze/weights/onset.h"

namespace saccade {

// Of the displayed frame, 0 to 1.
struct UvBox {
  float left = 0, top = 0, right = 1, bottom = 1;
};

// The tiles that it touches. Empty where the box is.
TileRect tiles_touched(const UvBox& box, const FrameGeometry& geometry);

// What a receiver's picture is measured by. Cubes: a stroke of text is sent long before faint detail, which follows
// where tokens are left; natural clips lose at most 0.4 dB by it. For a PSNR: the squares that it is of.
ErrorMeasure measure_of(const AdaptiveShape& shape);
inline constexpr ErrorMeasure kForPsnr{.power = 2, .noise = 0, .chroma = false};

// Of frames of one geometry. On the thread of `held`. The same frames give the same patches, to the bit.
class Allocator {
 public:
  // Throws UsageError for regions to ignore that are outside the frame or leave nothing. squares: the same picture
  // measured by kForPsnr, for psnr_db(); null: none, or `held` is.
  Allocator(std::unique_ptr<HeldPicture> held, std::unique_ptr<HeldPicture> squares, const LatticeConfig& config,
            const IgnoreRegions& ignore, const FrameGeometry& geometry);

  // From the next look on, of the same geometry. What is held stays. False, and nothing changes: another lattice, or
  // another measure of errors. Throws UsageError as make_lattice().
  bool configure(const LatticeConfig& config);

  void note(std::int64_t pts_ns, const Damage& damage, const ScreenCues& cues);  // every frame
  // Chooses squares and holds them as sent. Allocates until it is warm. The plan has the lattice's patch_count()
  // patches and ends with those of coverage 0. luma_span: codes from black to white, which a PSNR is of.
  void look(std::int64_t pts_ns, float fix_u, float fix_v, int luma_span, PatchPlan& out);
  // The receiver lost what it held: all of it, or the tiles that a box of the frame touches.
  void forget();
  void forget(const UvBox& lost);

  // For who shows it. Spans hold until the next call. Of each tile: the number of the token that shows it, below 0: it
  // is grey. Tokens count from 0; the last look's are the last ones.
  std::span<const std::int64_t> came_by() const { return came_by_; }
  std::int64_t sent() const { return sent_; }
  // Of each tile, of what is held against the texture as it is now.
  ErrorMeasure error_measure() const { return measure_of(shape_); }
  std::span<const std::uint32_t> held_errors() { return held_->measure().held; }
  // Of each tile, as a look at this moment has them. With a PSNR they count where the budget does not reach it.
  std::span<const Weight> weights(std::int64_t pts_ns, float fix_u, float fix_v);
  // Of luma, what is ignored left out; infinite: no error. nullopt: nothing measures squares, or there was no look.
  std::optional<double> psnr_db();

 private:
  struct SentToken {
    std::int64_t pts_ns;
    Square square;
  };
  void exclude_outside();
  void forget(const TileRect& tiles);
  Patch patch_of(const Square& square) const;
  int save_up(std::int64_t pts_ns);
  std::span<const Square> choose(std::int64_t pts_ns, float fix_x_px, float fix_y_px, int most);
  void weigh_alike();
  void weigh(std::int64_t pts_ns, float fix_x_px, float fix_y_px);
  void note_sent(std::int64_t pts_ns, std::span<const Square> sent);
  void forget_beyond_context(std::int64_t pts_ns);

  std::unique_ptr<HeldPicture> held_, squares_;
  AdaptiveShape shape_;
  std::unique_ptr<Lattice> lattice_;
  FrameGeometry geometry_;
  TileGrid grid_;
  std::vector<std::uint8_t> ignored_;  // of each tile; empty: none
  Fatigue fatigue_;
  Onset onset_;
  Cues cues_;
  SquareChoice choice_;
  std::vector<Weight> weights_;
  std::optional<std::int64_t> noted_ns_, last_pts_ns_;  // of a frame; of a look
  std::int64_t saved_ = 0;                              // of a rate: billionths of tokens
  int luma_span_ = 0;                                   // of the last look
  // With a context: tokens [lost_, sent_) are in it; context_ has those from first_ on.
  std::vector<SentToken> context_;
  std::int64_t sent_ = 0, lost_ = 0, first_ = 0;
  std::vector<std::int64_t> came_by_;
};

}  // namespace saccade
