// Y'CbCr to R'G'B' of one sample, in float, clamped once. Coefficients come from colour.cpp's make_color_params();
// formulas: ITU-R BT.601-7, BT.709-6, BT.2020-2, SMPTE 240M; quantisation: ITU-T H.273 clause 8.3.
#ifndef SACCADE_SHARED_COLOR_H_
#define SACCADE_SHARED_COLOR_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

struct ColorParams {
  float y_offset;  // subtracted from Y, in the unit of the samples (code values on a CPU, 0..1 on a GPU)
  float y_scale;   // 1 / (white - black)
  float c_offset;  // the code of zero chroma
  float r_cr;      // R = y + r_cr * cr
  float g_cb;      // G = y + g_cb * cb + g_cr * cr (both negative)
  float g_cr;
  float b_cb;  // B = y + b_cb * cb
  float pad0;
};

struct Rgb {
  float r;  // R'G'B', 0..1
  float g;
  float b;
};

SACCADE_FN Rgb ycbcr_to_rgb(float y_code, float cb_code, float cr_code, ColorParams p) {
  float y = (y_code - p.y_offset) * p.y_scale;
  float cb = cb_code - p.c_offset;
  float cr = cr_code - p.c_offset;
  Rgb rgb;
  rgb.r = clamp(y + p.r_cr * cr, 0.0f, 1.0f);
  rgb.g = clamp((y + p.g_cb * cb) + p.g_cr * cr, 0.0f, 1.0f);
  rgb.b = clamp(y + p.b_cb * cb, 0.0f, 1.0f);
  return rgb;
}

SACCADE_SHARED_END
#if defined(__cplusplus)
static_assert(sizeof(saccade::shared::ColorParams) == 32, "std140 layout");
static_assert(offsetof(saccade::shared::ColorParams, y_offset) == 0 &&
                  offsetof(saccade::shared::ColorParams, y_scale) == 4 &&
                  offsetof(saccade::shared::ColorParams, c_offset) == 8 &&
                  offsetof(saccade::shared::ColorParams, r_cr) == 12 &&
                  offsetof(saccade::shared::ColorParams, g_cb) == 16 &&
                  offsetof(saccade::shared::ColorParams, g_cr) == 20 &&
                  offsetof(saccade::shared::ColorParams, b_cb) == 24,
              "std140 layout");
#endif
#endif  // SACCADE_SHARED_COLOR_H_
