// Calls every function of kernels/shared, in the common subset itself: what compiles here, as C++, CUDA and GLSL,
// compiles wherever it is used. A test checks that no function is missing.
#ifndef SACCADE_SHARED_EXERCISE_H_
#define SACCADE_SHARED_EXERCISE_H_
#include "kernels/shared/color.h"
#include "kernels/shared/fovea.h"
#include "kernels/shared/half.h"
#include "kernels/shared/held.h"
#include "kernels/shared/oculomotor.h"
#include "kernels/shared/sampling.h"
#include "kernels/shared/taps.h"
#include "kernels/shared/tile.h"

SACCADE_SHARED_BEGIN

SACCADE_FN float exercise(float x, int index, ColorParams color, FoveaParams fovea) {
  Rgb rgb = ycbcr_to_rgb(x, x, x, color);
  float sum = rgb.r + rgb.g + rgb.b;
  float e = eccentricity(x, x, 0.5f, 0.25f, fovea);
  float lod = level_of_detail(e, fovea);
  sum += eccentricity_of_lod(lod, fovea) + chroma_lod(lod);
  sum += saccade_duration_s(e) + minimum_jerk(x);
  sum += axis_tap(x, tiles_across(index)).weight + level_mix(lod, clamp_texel(index, 7)).fraction;
  sum += tap_coordinate(x, index) * level_scale(index) + float_from_half(half_from_float(x));
  sum += float(pixel_error(luma_of_rgb(index, 7, kGreyLuma), code_of_wide(index), 3, kTileStays));
  sum += float(chroma_error(chroma_of_rgb(index, 9), kGreyChroma, mean_of_codes(index, 4), chroma_level(8, 6), 2, 1));
  sum += float(add_errors(uint(index), 5u));
  float position = sample_position_px(x, index, 16, exp2(floor(lod)));
  return sum + lerp(texel_coordinate(position, 0.5f, 0.25f, 0.125f), sqrt(log2(e + 1.0f)), 0.5f);
}

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_EXERCISE_H_
