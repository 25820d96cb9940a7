// Rectangles that show squares: sizes that the server keeps, few pictures, little beside what they are for.
//
// Note [Crops]
// Squares whose tiles lie at most one tile apart are a region: the rectangle around them, at level 0 if one of them is,
// else at level 1. Two regions become one where the model counts hardly more tokens for the rectangle around both than
// for the two, and where there are more than a message may hold. A region that is larger than a picture may be is cut
// in two.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/held_picture.h"
#include "pipeline/views/view.h"

namespace saccade {

struct CropLimits {
  int tokens = 0;
  int views = kMostViews;
};

// Squares of levels 0 and 1. nullopt: all of them can't be shown within the limits.
std::optional<std::vector<View>> crops_of(std::span<const Square> squares, TileGrid grid, ImageSize frame,
                                          const TokenRule& rule, const CropLimits& limits);

// The picture of a rectangle of tiles at a level: centred on it where the frame allows. nullopt: it would be too large.
std::optional<View> view_of(const TileRect& tiles, int level, ImageSize frame, const TokenRule& rule);

// Of the smallest view, whatever it shows. Throws UsageError: the server resizes any picture.
int least_tokens(const TokenRule& rule);

}  // namespace saccade
