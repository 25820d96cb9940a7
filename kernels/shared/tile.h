// Tiles: the unit in which frames are compared with a texture and written into it.
#ifndef SACCADE_SHARED_TILE_H_
#define SACCADE_SHARED_TILE_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

SACCADE_CONST int kTilePx = 16;  // a tile is 16 x 16 texels of level 0 (chroma: 8 x 8)

// Tiles along an axis of so many texels of level 0, the last one in part.
SACCADE_FN int tiles_across(int extent_px) { return (extent_px + kTilePx - 1) / kTilePx; }

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_TILE_H_
