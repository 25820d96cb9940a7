// The held picture: writes what was sent and forgotten, and works out the errors of those tiles and of the ones that
// changed.
//
//   a workgroup owns 4 tiles; a thread owns one row of a tile, 16 texels of luma. Then a thread sums the rows of a tile
//   at one level.
//
// The first thread of a tile has its chroma as well.
//
// CHANNELS: 4 of R'G'B', else 1. WIDE: 1 where codes have 16 bits.
#include "held.h"
#include "tile.h"

layout(local_size_x = 64) in;

layout(binding = 0) uniform usampler2D picture;
layout(binding = 1) uniform usampler2D chroma;  // Cb and Cr; of R'G'B' the picture

layout(std430, binding = 0) readonly buffer Changes { uint changes[]; };  // of each tile, a byte: held.h
layout(std430, binding = 1) buffer Held { uint held[]; };                 // luma, 4 texels a word, padded as level 0
layout(std430, binding = 2) writeonly buffer Errors { uint errors[]; };   // level after level, of each tile
layout(std430, binding = 3) readonly buffer Changed { uint changed[]; };  // a bit a tile: kTileChanged

layout(std430, binding = 4) buffer HeldChroma { uint held_chroma[]; };    // of each tile, Cr from bit 8

layout(location = 0) uniform int tile_count;
layout(location = 1) uniform int tile_cols;
layout(location = 2) uniform int pitch_words;  // of held
layout(location = 3) uniform ivec2 image_size;
layout(location = 4) uniform int levels;  // of squares
layout(location = 5) uniform int power;
layout(location = 6) uniform int noise;
layout(location = 7) uniform int chroma_levels;  // of the texture; 0: chroma does not count

const int LEVELS = 5;
const int TILES = 4;
const int WORDS = kTilePx / 4;

shared uint row_errors[LEVELS][TILES * kTilePx];
shared uint chroma_errors[TILES];

int code_of(uint code) {
#if WIDE
  return code_of_wide(int(code));
#else
  return int(code);
#endif
}

int luma(ivec2 at, int level) {
  uvec4 code = texelFetch(picture, at, level);
#if CHANNELS == 4
  return luma_of_rgb(int(code.r), int(code.g), int(code.b));
#else
  return code_of(code.r);
#endif
}

int change_of(int tile) {
  if (tile >= tile_count) return kTileStays;
  int change = int(changes[tile / 4] >> (tile % 4 * 8) & 0xffu);
  bool only_changed = change == kTileStays && (changed[tile / 32] >> (tile % 32) & 1u) != 0u;
  return only_changed ? kTileChanged : change;
}

uint row_error(int now[kTilePx], int shown[kTilePx], int columns) {
  uint sum = 0u;
  for (int x = 0; x < columns; ++x) sum += pixel_error(now[x], shown[x], power, noise);
  return sum;
}

ivec2 chroma_of(ivec2 tile) {
#if CHANNELS == 4
  const int TEXELS = kTilePx;
#else
  const int TEXELS = kTilePx / 2;
#endif
  int level = chroma_level(TEXELS, chroma_levels);
  int side = TEXELS >> level;
  ivec3 sum = ivec3(0);
  for (int n = 0; n < side * side; ++n) {
    uvec4 code = texelFetch(chroma, tile * side + ivec2(n % side, n / side), level);
    sum += ivec3(code_of(code.r), code_of(code.g), code_of(code.b));
  }
  ivec3 mean = ivec3(mean_of_codes(sum.r, side * side), mean_of_codes(sum.g, side * side), mean_of_codes(sum.b, side * side));
#if CHANNELS == 4
  int own_luma = luma_of_rgb(mean.r, mean.g, mean.b);
  return ivec2(chroma_of_rgb(mean.b, own_luma), chroma_of_rgb(mean.r, own_luma));
#else
  return mean.rg;
#endif
}

// What a tile's chroma adds to the error held.
uint change_chroma(int change, int tile) {
  ivec2 now = chroma_of(ivec2(tile % tile_cols, tile / tile_cols));
  ivec2 kept = change == kTileForgotten ? ivec2(kGreyChroma) : now;
  if (change == kTileChanged) kept = ivec2(held_chroma[tile] & 0xffu, held_chroma[tile] >> 8);
  if (change != kTileChanged) held_chroma[tile] = uint(kept.x | kept.y << 8);
  return chroma_error(now.x, kept.x, now.y, kept.y, power, noise);
}

// at: the row's first texel of level 0.
void change_row(int change, ivec2 at, int thread) {
  int columns = at.y < image_size.y ? min(image_size.x - at.x, kTilePx) : 0;
  int first_word = at.y * pitch_words + at.x / 4;
  int now[kTilePx], shown[kTilePx], kept[kTilePx];
  for (int x = 0; x < kTilePx; ++x) {
    now[x] = luma(at + ivec2(x, 0), 0);
    kept[x] = change == kTileForgotten ? kGreyLuma : now[x];
    if (change == kTileChanged) kept[x] = int(held[first_word + x / 4] >> (x % 4 * 8) & 0xffu);
  }
  for (int level = 1; level < levels; ++level) {
    for (int x = 0; x < kTilePx; ++x) {
      shown[x] = luma((at + ivec2(x, 0)) >> level, level);
      if (change == kTileSent + level) kept[x] = shown[x];
    }
    row_errors[level][thread] = row_error(now, shown, columns);
  }
  row_errors[0][thread] = row_error(now, kept, columns);
  if (change == kTileChanged) return;
  for (int word = 0; word < WORDS; ++word) {
    held[first_word + word] = uint(kept[4 * word] | kept[4 * word + 1] << 8 | kept[4 * word + 2] << 16) |
                              uint(kept[4 * word + 3]) << 24;
  }
}

void main() {
  int group = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  int thread = int(gl_LocalInvocationID.x);
  int tile = group * TILES + thread / kTilePx;
  int change = change_of(tile);
  if (change != kTileStays) {
    change_row(change, ivec2(tile % tile_cols, tile / tile_cols) * kTilePx + ivec2(0, thread % kTilePx), thread);
  }
  if (change != kTileStays && thread % kTilePx == 0) {
    chroma_errors[thread / kTilePx] = chroma_levels > 0 ? change_chroma(change, tile) : 0u;
  }
  barrier();
  int level = thread / TILES;
  int summed = thread % TILES;
  if (level >= levels || change_of(group * TILES + summed) == kTileStays) return;
  uint sum = 0u;
  for (int row = 0; row < kTilePx; ++row) sum += row_errors[level][summed * kTilePx + row];
  if (level == 0) sum = add_errors(sum, chroma_errors[summed]);
  errors[level * tile_count + group * TILES + summed] = sum;
}
