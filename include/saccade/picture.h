// libsaccade: patches painted back into a picture, and what a receiver lost of its own. Part of the C interface. Errors
// as in saccade.h.
#ifndef SACCADE_PICTURE_H
#define SACCADE_PICTURE_H

#include <saccade/saccade.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a painter paints. Zeros stand for defaults, except in the first four.
typedef struct saccade_painter_settings {
  size_t struct_size;
  int32_t width_px, height_px;  // of the frame that the patches are of
  int32_t patch_size;           // S
  int32_t picture_width_px;     // of the picture; its height follows. 0: the frame as displayed
  int32_t memory;               // 1: what earlier calls painted finer stays until it changes
  double sar;                   // width of a frame's pixel over its height; 0: 1
  int32_t no_interpolation;     // 1: each sample as a square of one colour; 0: linear between samples of a patch
} saccade_painter_settings;

// Patches in the host's memory, at any alignment.
typedef struct saccade_patch_samples {
  size_t struct_size;
  const void* patches;   // count x 3 x S x S of `dtype`
  const void* geometry;  // count x 4 floats: u, v, lod, coverage
  int32_t count;
  int32_t dtype;  // saccade_dtype. Floats are (v - mean) / std of v in [0, 1]
  float mean[3];
  float std[3];  // 0: 1
} saccade_patch_samples;

// Paints patches back where the eye would see them: coarse ones first, fine ones over them, grey where no patch lies
// or, with memory, ever lay. The same pixels as the program's `reconstruct`. One thread at a time; no device is used.
typedef struct saccade_painter saccade_painter;

SACCADE_API saccade_status saccade_painter_new(const saccade_painter_settings* settings, saccade_painter** out);
SACCADE_API void saccade_painter_free(saccade_painter* painter);    // NULL is allowed
SACCADE_API void saccade_painter_forget(saccade_painter* painter);  // with memory: restart with nothing
SACCADE_API saccade_status saccade_painter_get_size(const saccade_painter* painter, int32_t* width, int32_t* height);

// Writes the picture into rgb: height x width x 3 R'G'B' codes, rgb_bytes in all. With memory, emissions come in the
// order of their times. SACCADE_ERROR_USAGE: a size or a patch is wrong, or memory was asked for and samples lie
// between texels, so that nothing tells what stayed the same; the painter is then as before.
SACCADE_API saccade_status saccade_painter_paint(saccade_painter* painter, const saccade_patch_samples* samples,
                                                 uint8_t* rgb, size_t rgb_bytes);

// Draws where the eye looks into a picture of width x height x 3 codes: a ring with a cross at (u, v); with `in_flight`
// a broken ring.
SACCADE_API saccade_status saccade_draw_fixation(uint8_t* rgb, int32_t width, int32_t height, float u, float v,
                                                 int32_t in_flight);

// Lattice adaptive, and views (views.h): the receiver lost what it held of this part of the frame, which counts as
// never sent from now on. uv_box: left, top, right, bottom, 0 to 1; NULL: all of it. SACCADE_ERROR_USAGE: no such box,
// or another lattice and no views yet.
SACCADE_API saccade_status saccade_stream_forget(saccade_stream* stream, const float uv_box[4]);

#ifdef __cplusplus
}
#endif

#endif
