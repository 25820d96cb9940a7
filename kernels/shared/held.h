// What a held picture is made of: luma of 8 bits and each tile's chroma, and how far these are from what is shown. See
// Note [Held picture] in kernels/held_picture.h.
#ifndef SACCADE_SHARED_HELD_H_
#define SACCADE_SHARED_HELD_H_
#include "prelude.h"
#include "tile.h"

SACCADE_SHARED_BEGIN

SACCADE_CONST int kGreyLuma = 128;  // what is held before anything is sent

// A quarter, a half and a quarter of R'G'B' of 8 bits.
SACCADE_FN int luma_of_rgb(int r, int g, int b) { return (r + 2 * g + b + 2) / 4; }

// The upper 8 bits of a code of 16.
SACCADE_FN int code_of_wide(int code) { return code >> 8; }

// A difference of d codes counts as d^power (2 or 3), one of at most `noise` codes as nothing. Of two codes of 8 bits.
SACCADE_FN uint pixel_error(int now, int shown, int power, int noise) {
  int difference = now > shown ? now - shown : shown - now;
  if (difference <= noise) return 0u;
  return uint(difference * difference * (power == 3 ? difference : 1));
}

// A tile's chroma is the mean over its chroma texels, in 8 bits: Cb and Cr. Of R'G'B': by how much blue and red exceed
// luma, halved.
SACCADE_CONST int kGreyChroma = 128;
SACCADE_FN int chroma_of_rgb(int channel, int luma) { return (channel - luma + 256) / 2; }
SACCADE_FN int chroma_level(int tile_texels, int levels) {  // the highest in which a tile has a texel of its own
  int level = 0;
  while (level + 1 < levels && tile_texels >> (level + 1) > 0) ++level;
  return level;
}
SACCADE_FN int mean_of_codes(int sum, int count) { return (sum + count / 2) / count; }

// Counts once for each of the tile's 8 x 8 chroma texels.
SACCADE_FN uint chroma_error(int cb, int held_cb, int cr, int held_cr, int power, int noise) {
  uint one = pixel_error(cb, held_cb, power, noise) + pixel_error(cr, held_cr, power, noise);
  return uint(kTilePx * kTilePx / 4) * one;
}

SACCADE_FN uint add_errors(uint one, uint other) {
  uint sum = one + other;
  return sum < one ? 0xffffffffu : sum;
}

// What becomes of a tile of a held picture that a device keeps, as a byte. All but kTileStays work out its errors.
SACCADE_CONST int kTileStays = 0;
SACCADE_CONST int kTileChanged = 1;    // the texture did; of a tile that else stays, and then as a bit
SACCADE_CONST int kTileForgotten = 2;  // it is held as grey
SACCADE_CONST int kTileSent = 3;       // plus a level: it is held as this level's texels

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_HELD_H_
