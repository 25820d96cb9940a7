// The views that bring the receiver's picture nearest to the frame, for a budget in the model's own tokens.
//
// Note [Choice of views]
// The receiver's picture is held as lattice adaptive holds it: what was sent, painted where it belongs. For each
// overview that fits, and for none, the tokens that are left go to crops: first of what changed since it was last
// shown, then of what was never sent as finely. Each time these are as many squares as possible of those that gain most
// (SquareChoice), shown by rectangles. The overview that leaves the least weighted error is sent if nothing was sent
// before, or if it leaves less than half of what crops alone would. Of two that leave the same the one of fewer tokens
// is. What is held already gains nothing, so it is not sent again.
// With new_only what is not new weighs nothing, so neither tokens nor the choice of an overview go by it. The first
// overview then comes alone.
//
// Weights: what is sent again and again counts ever less, and around a point that is looked at acuity counts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/held_picture.h"
#include "kernels/shared/fovea.h"
#include "pipeline/gaze/allocate/choice.h"
#include "pipeline/gaze/weights/fatigue.h"
#include "pipeline/views/crops.h"
#include "pipeline/views/view.h"

namespace saccade {

struct ViewRequest {
  TokenRule rule;
  int tokens = 0;         // of all views together, at most
  bool new_only = false;  // what changed, or was lost, since it was last shown; an overview if nothing was sent before
  // A point of the frame that is looked at, and the acuity around it.
  struct Look {
    PointPx at;
    shared::FoveaParams fovea;
  };
  std::optional<Look> look;
};

// Of frames of one size, for one receiver. On the thread of `held`. The same frames give the same views.
class ViewChooser {
 public:
  // held: of a texture that has a frame, measured by the ErrorMeasure that is the default; nothing was sent yet.
  ViewChooser(std::unique_ptr<HeldPicture> held, TileGrid grid, ImageSize frame);

  void note(std::int64_t pts_ns, const Damage& damage);  // every frame
  // Chooses views of the frame that came last, and holds them as sent: the overview, then crops from the top.
  std::vector<View> choose(const ViewRequest& request);
  // The receiver lost what it held: all of it, or these tiles.
  void forget();
  void forget(const TileRect& tiles);

 private:
  struct Plan {
    std::vector<View> views;
    int tokens = 0;
    std::int64_t left = 0;  // the weighted error
  };
  void weigh(const ViewRequest& request);
  Plan plan(const ViewRequest& request, int overview);  // its level; -1: none. Empty: it does not fit
  Plan best_overview(const ViewRequest& request);
  std::int64_t weighted(std::span<const std::uint32_t> errors) const;
  std::vector<View> crops(const ViewRequest& request, const CropLimits& limits, bool only_new);
  std::vector<View> crops_within(const ViewRequest& request, const CropLimits& limits, int squares, int& shown);
  void show(const View& view);
  void give_reasons(const ViewRequest& request, std::vector<View>& views) const;
  void hold(std::span<const View> views);
  void add_kept(int level, int coarsest, std::vector<Square>& out) const;
  void add_shown(const View& view, std::vector<Square>& out) const;
  template <typename F>
  void for_each_square(int level, const TileRect& tiles, F&& f) const;
  std::uint32_t mean_error(int level, std::size_t tile) const;
  TileRect tiles_in(const FrameBox& box) const;
  template <typename F>
  void for_each_tile(const TileRect& tiles, F&& f) const;

  std::unique_ptr<HeldPicture> held_;
  TileGrid grid_;
  ImageSize frame_;
  SquareChoice choice_;
  Fatigue fatigue_;
  enum class News : std::uint8_t {
    kNone,
    kWithAll,  // it changed, or was lost, as all of the frame did
    kOwn       // it changed by itself, or was lost
  };
  std::vector<News> news_;  // of each tile: since it was last shown at level 0
  bool any_sent_ = false;   // since all was forgotten
  std::optional<std::int64_t> pts_ns_;
  TileErrors errors_;                            // as measured
  std::vector<std::uint32_t> left_, half_left_;  // of each tile: errors after the views that are planned so far
  std::vector<Weight> weights_, rated_;          // rated_: 0 where a tile is not up for choice
};

}  // namespace saccade
