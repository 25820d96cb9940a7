// libsaccade: operations on tensors that the caller owns. Part of the C interface; errors as in saccade.h.
//
// Every call works on arrays of one place: the host, or a CUDA device, where it is put into the caller's stream and
// returns without waiting. Memory: on a device a call allocates none; saccade_hardware_texture_new() does. On the host
// a call may take memory for its own work, at most of the order of its arrays; its thread keeps it for the next call.
// Any thread.
//
// Coordinates: uv in 0..1 of level 0, x first, origin at the top left, the centre of pixel i at (i + 0.5) / width.
#ifndef SACCADE_TENSOR_H
#define SACCADE_TENSOR_H

#include <saccade/saccade.h>

#ifdef __cplusplus
extern "C" {
#endif

// Continues saccade_dtype.
typedef enum saccade_tensor_dtype { SACCADE_U16 = 3, SACCADE_BF16 = 4, SACCADE_F64 = 5 } saccade_tensor_dtype;

typedef struct saccade_place {
  size_t struct_size;
  void* cuda_stream;  // cudaStream_t; NULL: the device's default one
  int32_t cuda;       // 0: the host, 1: a CUDA device
  int32_t device;     // its ordinal
  int32_t threads;    // of the host: as many at most; below 2: the caller's alone. They change no bit
  int32_t pad0;       // 0
} saccade_place;

// Strides in elements, of any sign; 0 repeats. Axes that an operation does not have are ignored. Calls take rows of
// these, so it is frozen: it has no struct_size and will get no more fields. An array without elements needs no data.
typedef struct saccade_array {
  void* data;  // of the place; NULL: not given
  int64_t shape[5];
  int64_t stride[5];
  int32_t dtype;  // saccade_dtype or saccade_tensor_dtype
  int32_t pad0;   // 0
} saccade_array;

// ---- Mip levels ----------------------------------------------------------------------------------------------------

typedef enum saccade_odd_sizes {
  SACCADE_ODD_FLOOR = 0,  // level l has size >> l texels: an odd row or column is dropped, as avg_pool2d does
  SACCADE_ODD_EDGE = 1    // size / 2^l, rounded up: the image goes on as its last row and column
} saccade_odd_sizes;

// levels[0], [B, C, H, W], is read; levels[1] to levels[count - 1] are written: means of 2 x 2 texels of the level
// below, as ((a + b) + c) + d, then a quarter of it; integers: the true mean of 4^l texels of level 0, rounded once.
// workspace: saccade_reduce_workspace_bytes() of the place; 0 bytes for up to 7 levels. On the host it may be NULL.
SACCADE_API saccade_status saccade_reduce(const saccade_place* place, const saccade_array* levels, int32_t count,
                                          int32_t odd, void* workspace, size_t workspace_bytes);
SACCADE_API size_t saccade_reduce_workspace_bytes(const saccade_array* base, int32_t count);

// base: [B, C, H, W], written: what each texel of level 0 has of the levels' gradients, [B, C, h, w] without gaps, f32,
// f64 or the base's dtype; those whose data is NULL count nothing. unit: NULL, or (CUDA) that of 64-bit integer levels,
// see saccade_sample_backward().
SACCADE_API saccade_status saccade_reduce_backward(const saccade_place* place, const saccade_array* base,
                                                   const saccade_array* levels, int32_t count, int32_t odd,
                                                   const double* unit);

// ---- Persistent textures -------------------------------------------------------------------------------------------

typedef enum saccade_tile {
  SACCADE_TILE_PX = 16  // along a side of a tile, in pixels of level 0
} saccade_tile;

typedef enum saccade_update_mask {
  SACCADE_MASK_DIFF = 0,    // tiles of 16 x 16 pixels in which the frame differs from level 0
  SACCADE_MASK_PIXELS = 1,  // the pixels that `mask`, [B, H, W], names
  SACCADE_MASK_TILES = 2    // the tiles that `mask`, [B, rows, cols], names
} saccade_update_mask;

typedef struct saccade_update_options {
  size_t struct_size;
  double threshold;     // a sample differs by more than this: in 8-bit codes, of u16 256 each; of floats in their unit
  int32_t min_samples;  // more than so many samples (all channels) differ in a damaged tile; 0: any
  int32_t odd;          // saccade_odd_sizes, as the levels were made
  int32_t mask_kind;    // saccade_update_mask
  int32_t pad0;
} saccade_update_options;

// levels[0], [B, C, H, W], takes what is new in `frame` (the same sizes and dtype; NULL: it already has it, as the mask
// says), and the other levels follow: as saccade_reduce() would make them, bit for bit. workspace: that of the
// saccade_reduce() which made the levels; it is kept from call to call. On the host it may be NULL: with more than 7
// levels all of an image is then read again where anything changed. mask: elements of a byte, not 0 counts; NULL
// with SACCADE_MASK_DIFF. tiles: [B, rows, cols] bytes, written: 1 where a tile was damaged. energy: NULL, or floats
// like it, written: the sum of |differences|.
SACCADE_API saccade_status saccade_update(const saccade_place* place, const saccade_array* levels, int32_t count,
                                          void* workspace, size_t workspace_bytes, const saccade_array* frame,
                                          const saccade_array* mask, const saccade_update_options* options,
                                          uint8_t* tiles, float* energy);

// ---- Patches -------------------------------------------------------------------------------------------------------

// What is read outside an image: its edge; zero; the image again; the image again, mirrored each second time.
typedef enum saccade_padding {
  SACCADE_PADDING_BORDER = 0,
  SACCADE_PADDING_ZEROS = 1,
  SACCADE_PADDING_WRAP = 2,
  SACCADE_PADDING_MIRROR = 3
} saccade_padding;

typedef struct saccade_sample_options {
  size_t struct_size;
  float scale;             // of every value before it is stored: 1/255 makes u8 codes 0..1
  int32_t padding;         // a saccade_padding
  int32_t max_anisotropy;  // 1 to 16
  int32_t rotate;          // 1: a patch's x axis lies along its direction
  int32_t nearest;         // 1: of each level the texel that a place lies in; 0: bilinear
  int32_t pad0;
} saccade_sample_options;

// patches: [B, N, C, S, S], written. levels: [B, C, h, w]. centers: [B, N, 2] uv; lod: [B, N], log2 of the distance of
// samples in level-0 pixels, clamped to 0..count - 1, fractions mix two levels; direction: NULL or [B, N, 2], whose
// length is the ratio of steps along to across. These three are f32 or f64, alike, their last axis without gaps.
SACCADE_API saccade_status saccade_sample(const saccade_place* place, const saccade_array* levels, int32_t count,
                                          const saccade_array* centers, const saccade_array* lod,
                                          const saccade_array* direction, const saccade_sample_options* options,
                                          const saccade_array* patches);

// gradient: [B, N, C, S, S]. Each of the results may be NULL or lack its data:
// levels' gradients, count of them, [B, C, h, w] without gaps, f32 (f64 for f64 levels), are added to;
// centers [B, N, 2], lod [B, N] and direction [B, N, 2], without gaps, of the coordinates' dtype, are written.
// first_level, last_level: the levels whose gradients count in this call, of 0 to count - 1.
// unit: NULL: sums by atomics on a GPU, whose order changes last bits. Else (CUDA) two doubles made by
// saccade_gradient_unit(), and levels' gradients are 64-bit integers of it: the same bits each run.
SACCADE_API saccade_status saccade_sample_backward(const saccade_place* place, const saccade_array* levels,
                                                   int32_t count, const saccade_array* centers,
                                                   const saccade_array* lod, const saccade_array* direction,
                                                   const saccade_sample_options* options, const saccade_array* gradient,
                                                   const saccade_array* level_gradients, int32_t first_level,
                                                   int32_t last_level, const double* unit, void* centers_gradient,
                                                   void* lod_gradient, void* direction_gradient);

// The gradient of an image whose levels saccade_reduce() made with `odd`: saccade_sample_backward() of all levels, then
// saccade_reduce_backward(). base: [B, C, H, W] of the levels' dtype, without gaps where that is f32 or f64, written;
// NULL: not wanted. sums: scratch for the levels' gradients, one behind the other, f32 (f64 for f64 levels, 64-bit
// integers with `unit`): of levels 1 to count - 1, with `unit`, f16 and bf16 of level 0, too. unit: NULL, or (CUDA) two
// doubles of scratch: the same bits each run.
SACCADE_API saccade_status saccade_sample_image_backward(
    const saccade_place* place, const saccade_array* levels, int32_t count, const saccade_array* centers,
    const saccade_array* lod, const saccade_array* direction, const saccade_sample_options* options,
    const saccade_array* gradient, int32_t odd, const saccade_array* base, void* sums, size_t sums_bytes, double* unit,
    void* centers_gradient, void* lod_gradient, void* direction_gradient);

// CUDA only. unit[0]: a 2^-40th of the greatest finite |gradient|, rounded to a power of two, or more where more than
// 2^22 samples could meet in a texel (with a scale of at most 1); unit[1]: its inverse. saccade_sample_backward() makes
// unit[0] NaN where it adds what is not finite, and all that is read by the unit then is NaN.
SACCADE_API saccade_status saccade_gradient_unit(const saccade_place* place, const saccade_array* gradient,
                                                 double* unit);

// ---- Patches by a GPU's texture unit -------------------------------------------------------------------------------

// A copy of a pyramid in CUDA's arrays, on one device. u8, u16, f16 and f32; batch times channels at most 2048 or what
// the device has. Its fractions between texels have 8 bits: samples are within 2/255 of the texels' range of
// saccade_sample()'s. Calls order themselves, also between streams, except while a stream is captured. One thread at a
// time may use it.
typedef struct saccade_hardware_texture saccade_hardware_texture;

// levels: as saccade_sample(), each without gaps. SACCADE_ERROR_UNAVAILABLE: the device can't have it.
SACCADE_API saccade_status saccade_hardware_texture_new(const saccade_place* place, const saccade_array* levels,
                                                        int32_t count, saccade_hardware_texture** out);
SACCADE_API void saccade_hardware_texture_free(saccade_hardware_texture* texture);  // waits; NULL is allowed
// Takes the levels' texels again.
SACCADE_API saccade_status saccade_hardware_texture_fill(saccade_hardware_texture* texture, const saccade_place* place,
                                                         const saccade_array* levels, int32_t count);
// As saccade_sample(); of the levels only the sizes count.
SACCADE_API saccade_status saccade_hardware_texture_sample(saccade_hardware_texture* texture,
                                                           const saccade_place* place, const saccade_array* levels,
                                                           int32_t count, const saccade_array* centers,
                                                           const saccade_array* lod, const saccade_array* direction,
                                                           const saccade_sample_options* options,
                                                           const saccade_array* patches);

// ---- Gaussian fields -----------------------------------------------------------------------------------------------

// All arrays without gaps, f32 or f64 alike. out[p, k] = sum over g of weight[g, k] exp(-q/2).
// q = |L_g^-1 (x_p - mean_g)|^2.
typedef struct saccade_gaussians {
  size_t struct_size;
  const void* x;                                           // [B, P, D]
  const void* mean;                                        // [B, G, D]
  const void* scale_tril;                                  // [B, G, D, D]: L, of which the lower triangle is read
  const void* weight;                                      // [B, G, K]
  double most_q;                                           // pairs of a greater q count 0; infinity: all count
  int32_t batch, points, gaussians, dimensions, channels;  // B, P, G, D (1 to 4), K
  int32_t dtype;                                           // SACCADE_F32 or SACCADE_F64
} saccade_gaussians;

SACCADE_API size_t saccade_gaussian_workspace_bytes(const saccade_place* place, const saccade_gaussians* gaussians);

// out: [B, P, K], written. workspace: of the place, for both directions.
SACCADE_API saccade_status saccade_gaussian_field(const saccade_place* place, const saccade_gaussians* gaussians,
                                                  void* workspace, void* out);

// gradient: [B, P, K]. Results, each may be NULL: written.
SACCADE_API saccade_status saccade_gaussian_field_backward(const saccade_place* place,
                                                           const saccade_gaussians* gaussians, const void* gradient,
                                                           void* workspace, void* x_gradient, void* mean_gradient,
                                                           void* scale_tril_gradient, void* weight_gradient);

// out: [B, P, G], written: q of every pair. The weights are not read.
SACCADE_API saccade_status saccade_mahalanobis(const saccade_place* place, const saccade_gaussians* gaussians,
                                               void* out);

// ---- Where to look -------------------------------------------------------------------------------------------------

typedef enum saccade_lattice_kind {
  SACCADE_LATTICE_NESTED = 0,  // square rings without gap or overlap
  SACCADE_LATTICE_GRID = 1,    // evenly spread centres, resolution by eccentricity
  SACCADE_LATTICE_UNIFORM = 2  // evenly spread centres, one resolution
} saccade_lattice_kind;

// A value that is 0 (lod: below 0) was not given. The rules and defaults of a stream's options of the same names: the
// nested lattice solves its rings from `tokens` and `fovea`, or follows e0 and m0, or has the rings that are given.
typedef struct saccade_lattice_settings {
  size_t struct_size;
  const int32_t* strides;       // [ring_count]: pixels a sample of each ring, the innermost first
  const int32_t* sides;         // [ring_count]: patches along the side of each ring's square
  double e0, m0;                // lod = log2((e + e0) / m0). Of one, the other is e0 = 2.3 or m0 = e0
  double lod;                   // uniform. With it and without tokens: side by side from the top left
  double fov_deg;               // horizontal
  double sar;                   // width of a pixel over its height
  int32_t ring_count;           // 0: not by rings
  int32_t kind;                 // saccade_lattice_kind
  int32_t uv;                   // e0 and m0 are in 0: degrees, 1: uv
  int32_t patches;              // N at most, those outside the frame included: leaves with the next version
  int32_t patch_size;           // S, even
  int32_t levels;               // of the pyramid
  int32_t width_px, height_px;  // of level 0. Both 0: the settings are only checked
  double fovea;                 // nested: width of full resolution
  int32_t fovea_deg;            // fovea is in 0: pixels, 1: degrees
  int32_t tokens;               // patches inside the frame, at most: N. 0: 273
} saccade_lattice_settings;

typedef struct saccade_lattice_info {
  size_t struct_size;
  double e0, m0;                        // as solved
  double unit_per_px_x, unit_per_px_y;  // units of e0 and m0 in a level-0 pixel
  int32_t patch_count;                  // N
  int32_t snap_px;                      // nested: a plan is centred on multiples of it. Else 0
  int32_t pattern_count;  // nested: patches around that centre; a plan has those that meet the frame, or all
  int32_t pad0;           // 0
} saccade_lattice_info;

// Of one frame size; constant. Any thread, several at once, also of a child of fork().
typedef struct saccade_lattice saccade_lattice;

// *out is NULL after an error, and where the settings are only checked.
SACCADE_API saccade_status saccade_lattice_new(const saccade_lattice_settings* settings, saccade_lattice** out);
SACCADE_API void saccade_lattice_free(saccade_lattice* lattice);  // NULL is allowed
SACCADE_API saccade_status saccade_lattice_get_info(const saccade_lattice* lattice, saccade_lattice_info* out);

// pattern: [pattern_count][3], written: x and y in level-0 pixels from a plan's centre, and lod. A plan of N below
// pattern_count has those that meet the frame, in this order; where they are fewer, it ends with patches of coverage 0.
SACCADE_API saccade_status saccade_lattice_get_pattern(const saccade_lattice* lattice, float* pattern);

// fixations: [count][2] u, v. geometry: [count][N][4], written: the centre's x and y, lod, and coverage (share of
// samples inside the frame); the centre in uv, or with `in_pixels` in level-0 pixels. Both on the host.
SACCADE_API saccade_status saccade_lattice_plan(const saccade_lattice* lattice, const float* fixations, size_t count,
                                                int32_t in_pixels, float* geometry);

// Plans where tensors lie, of a lattice whose N is its pattern_count. fixations: [M][2] u, v; at_px: [N][2], the
// centres of the plan of (0, 0) in pixels; centers: [M][N][2] uv, written. All of `dtype`, f32 or f64, without gaps.
// Fixations are clamped to the image, those that are not numbers lie in its middle. snap_px: the lattice's; 0: centres
// follow the fixation exactly. In f32 with the lattice's snap_px the bits of saccade_lattice_plan().
SACCADE_API saccade_status saccade_lattice_plan_at(const saccade_place* place, int32_t dtype, const void* fixations,
                                                   int32_t fixation_count, const void* at_px, int32_t patch_count,
                                                   int32_t width_px, int32_t height_px, int32_t snap_px, void* centers);

// ---- Published constants
// ---------------------------------------------------------------------------------------------

typedef struct saccade_fovea_preset {
  size_t struct_size;
  const char* name;  // static
  double e0, m0;
  int32_t uv;  // as saccade_lattice_settings
  int32_t pad0;
} saccade_fovea_preset;

typedef struct saccade_normalization {
  size_t struct_size;
  const char* name;  // static
  double mean[3], deviation[3];
} saccade_normalization;

// By index from 0; SACCADE_END after the last.
SACCADE_API saccade_status saccade_fovea_preset_describe(size_t index, saccade_fovea_preset* out);
SACCADE_API saccade_status saccade_normalization_describe(size_t index, saccade_normalization* out);

#ifdef __cplusplus
}
#endif

#endif
