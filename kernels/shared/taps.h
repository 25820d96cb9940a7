// What a bilinear read takes of a level along one axis, and which levels a level of detail mixes. Texel loads stay
// outside; Note [Sample positions] in sampling.h.
#ifndef SACCADE_SHARED_TAPS_H_
#define SACCADE_SHARED_TAPS_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

// The two neighbours of a texel coordinate, clamped to the level, and the weight of the second.
SACCADE_REAL
struct AxisTap {
  int first;
  int second;
  Real weight;
};

// Where a read of a level of `extent` texels lies: one texel outside reads the same as any distance further, and
// not-a-number reads the first texel.
SACCADE_REAL
SACCADE_FN Real tap_coordinate(Real coordinate, int extent) {
  return coordinate > Real(-1) ? min(coordinate, Real(extent)) : Real(-1);
}

SACCADE_FN int clamp_texel(int index, int extent) { return index < 0 ? 0 : (index > extent - 1 ? extent - 1 : index); }

// coordinate: texel i has coordinate i.
SACCADE_REAL
SACCADE_FN OF_REAL(AxisTap) axis_tap(Real coordinate, int extent) {
  Real inside = tap_coordinate(coordinate, extent);
  Real whole = floor(inside);
  OF_REAL(AxisTap) tap;
  tap.first = clamp_texel(int(whole), extent);
  tap.second = clamp_texel(int(whole) + 1, extent);
  tap.weight = inside - whole;
  return tap;
}

// A sample is that of level `first` or, where fraction > 0, that mixed with level `second` by the fraction.
SACCADE_REAL
struct LevelMix {
  int first;
  int second;
  Real fraction;
};

// lod is clamped to 0 .. levels - 1; not-a-number is 0.
SACCADE_REAL
SACCADE_FN OF_REAL(LevelMix) level_mix(Real lod, int levels) {
  Real inside = lod > Real(0) ? min(lod, Real(levels - 1)) : Real(0);
  Real whole = floor(inside);
  OF_REAL(LevelMix) mix;
  mix.first = int(whole);
  mix.second = clamp_texel(mix.first + 1, levels);
  mix.fraction = inside - whole;
  return mix;
}

// 2^-level, exact.
SACCADE_FN float level_scale(int level) { return uintBitsToFloat(uint(127 - level) << 23); }

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_TAPS_H_
