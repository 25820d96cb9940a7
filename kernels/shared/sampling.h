// Where a sample of a patch lies, and how trilinear filtering reads the pyramid. Texel loads stay outside.
//
// Note [Sample positions]
// Positions are continuous level-0 luma pixels: the centre of pixel i is i + 0.5. Sample (i, j) of an S x S patch
// centred at (cx, cy) with pitch 2^lod lies at cx + (i - (S - 1) / 2) * 2^lod, likewise in y. At level l of a plane
// with subsampling s (0 luma, 1 chroma) that position is the texel coordinate ((x * 2^-s + site_shift) * 2^-l) - 0.5,
// read by linear interpolation of its two neighbours per axis, indices clamped to the level (clamp-to-edge). Levels
// floor(lod) and floor(lod) + 1 are mixed by the fraction of lod. Chroma uses chroma_lod(lod).
#ifndef SACCADE_SHARED_SAMPLING_H_
#define SACCADE_SHARED_SAMPLING_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

// Level-0 position of sample `index` (0..size-1) of a patch, along one axis.
SACCADE_FN float sample_position_px(float centre_px, int index, int size, float pitch_px) {
  return centre_px + (float(index) - 0.5f * float(size - 1)) * pitch_px;
}

// Texel coordinate (texel i has coordinate i) of a level-0 luma position in level `level` of a plane.
// plane_scale: 1 for luma, 0.5 for chroma. site_shift: in chroma texels of level 0 (0.25 = MPEG "left", 0 = centre).
// level_scale: 2^-level, exact.
SACCADE_FN float texel_coordinate(float position_px, float plane_scale, float site_shift, float level_scale) {
  return (position_px * plane_scale + site_shift) * level_scale - 0.5f;
}

SACCADE_FN float lerp(float a, float b, float t) { return a + (b - a) * t; }

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_SAMPLING_H_
