// Eccentricity and level of detail. Source: M(e) = M0 / (e + e0), the hyperbolic fall of acuity (Geisler and Perry
// 1998, e0 = 2.3 deg); lod = -log2 M.
#ifndef SACCADE_SHARED_FOVEA_H_
#define SACCADE_SHARED_FOVEA_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

struct FoveaParams {
  float m0;             // magnification numerator, in the unit of e
  float e0;             // eccentricity at which acuity halves (M0 = e0), in the unit of e; > 0
  float unit_per_px_x;  // e units (degrees of visual angle, or uv) per level-0 pixel, along x
  float unit_per_px_y;  // and along y: differs with the sample aspect ratio
  float max_lod;        // levels - 1
  float pad0;
  float pad1;
  float pad2;
};

// Distance of (x_px, y_px) from the fixation in the unit of e. All four in level-0 pixels, continuous.
SACCADE_FN float eccentricity(float x_px, float y_px, float fix_x_px, float fix_y_px, FoveaParams p) {
  float dx = (x_px - fix_x_px) * p.unit_per_px_x;
  float dy = (y_px - fix_y_px) * p.unit_per_px_y;
  return sqrt(dx * dx + dy * dy);
}

// clamp(log2((e + e0) / M0), 0, levels - 1).
SACCADE_FN float level_of_detail(float e, FoveaParams p) { return clamp(log2((e + p.e0) / p.m0), 0.0f, p.max_lod); }

// The eccentricity at which lod(e) equals `lod`: the inverse of level_of_detail where that is not clamped.
SACCADE_FN float eccentricity_of_lod(float lod, FoveaParams p) { return max(p.m0 * exp2(lod) - p.e0, 0.0f); }

// Chroma planes are half size: their level is one finer, never below 0.
SACCADE_FN float chroma_lod(float lod) { return max(lod - 1.0f, 0.0f); }

SACCADE_SHARED_END
#if defined(__cplusplus)
static_assert(sizeof(saccade::shared::FoveaParams) == 32, "std140 layout");
static_assert(offsetof(saccade::shared::FoveaParams, m0) == 0 && offsetof(saccade::shared::FoveaParams, e0) == 4 &&
                  offsetof(saccade::shared::FoveaParams, unit_per_px_x) == 8 &&
                  offsetof(saccade::shared::FoveaParams, unit_per_px_y) == 12 &&
                  offsetof(saccade::shared::FoveaParams, max_lod) == 16,
              "std140 layout");
#endif
#endif  // SACCADE_SHARED_FOVEA_H_
