// libsaccade: pictures of a stream's frame that any vision-language model reads, and the way back from its answers.
// Part of the C interface. Errors and structs as in saccade.h.
#ifndef SACCADE_VIEWS_H
#define SACCADE_VIEWS_H

#include <saccade/saccade.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- What a model counts -------------------------------------------------------------------------------------------

// How a server resizes a picture before the model sees it. Units are square: a patch that is a token, or a tile.
typedef enum saccade_resizing {
  SACCADE_RESIZING_MULTIPLES = 0,  // to multiples of a unit, of min_pixels to max_pixels: Qwen
  SACCADE_RESIZING_BUDGET = 1,     // down to max_side_px, then to max_units patches: OpenAI's patches
  SACCADE_RESIZING_PADDED = 2,     // down until max_side_px and max_units patches hold, then padded: Claude
  SACCADE_RESIZING_TILES = 3,      // down to max_side_px, then to max_short_px; tiles are counted: OpenAI's tiles
  SACCADE_RESIZING_ASPECT = 4,     // to the grid of at most max_units tiles of the nearest shape; a thumbnail: InternVL
  SACCADE_RESIZING_ANYRES = 5,     // into the best grid of tiles with sides up to max_side_px; a thumbnail: LLaVA
  SACCADE_RESIZING_FIXED = 6,      // to one unit: Gemma
  SACCADE_RESIZING_CROPPED = 7     // none up to max_short_px a side; else cut into tiles by the short side: Gemini
} saccade_resizing;

// The coordinates in which a model answers. Continuous; the origin is the picture's top left corner.
typedef enum saccade_answer {
  SACCADE_ANSWER_PIXELS = 0,       // of the picture that the model sees
  SACCADE_ANSWER_THOUSANDTHS = 1,  // 0 to 1000
  SACCADE_ANSWER_NORMALIZED = 2    // 0 to 1
} saccade_answer;

// How a model's server resizes and counts. Of the limits, what is 0 does not apply.
typedef struct saccade_token_rule {
  size_t struct_size;
  const char* name;    // "qwen2.5-vl"; of a rule of the caller's not read. Static, as the next two
  const char* source;  // where it is published
  const char* date;    // when that was read
  double unit_tokens;  // of a patch or a tile; an image's tokens are rounded up
  int64_t min_pixels, max_pixels;
  int32_t resizing;  // saccade_resizing
  int32_t answer;    // saccade_answer
  int32_t unit_px;
  int32_t base_tokens;  // of an image, beside its units
  int32_t max_units;
  int32_t max_side_px;   // of the long side
  int32_t max_short_px;  // of the short side
  int32_t max_aspect;    // long side over short side
  int32_t step_px;       // the sides of views are multiples of this
  int32_t most_images;   // of a message; 0: 20
} saccade_token_rule;

// The table, by index from 0; SACCADE_END after the last.
SACCADE_API saccade_status saccade_token_rule_describe(size_t index, saccade_token_rule* out);

// What the model counts for a picture of this size, and the size that its server makes of it. Results may be NULL.
// SACCADE_ERROR_USAGE: the rule is wrong, or the server refuses such a picture.
SACCADE_API saccade_status saccade_token_rule_count(const saccade_token_rule* rule, int32_t width, int32_t height,
                                                    int32_t* tokens, int32_t* seen_width, int32_t* seen_height);

// The largest size of at most so many tokens that the server does not resize, as near to the shape width x height as
// such sizes come. SACCADE_END: none is so small.
SACCADE_API saccade_status saccade_token_rule_fit(const saccade_token_rule* rule, int32_t width, int32_t height,
                                                  int32_t tokens, int32_t* fit_width, int32_t* fit_height);

// ---- Views ---------------------------------------------------------------------------------------------------------

typedef struct saccade_views_settings {
  size_t struct_size;
  const saccade_token_rule* rule;
  float look_u, look_v;  // with has_look: a point of the frame, 0 to 1, that counts more
  int32_t tokens;        // of all views together, at most. SACCADE_ERROR_USAGE: too few for any picture
  int32_t has_look;
  int32_t new_only;  // only what changed, or was lost, since it was last shown. If nothing was sent: an overview
} saccade_views_settings;

// Pictures of one frame, with their pixels in host memory. Any thread may read them; they outlive their stream.
typedef struct saccade_views saccade_views;

// Chooses what brings the receiver's picture nearest to the frame that was taken last: an overview, which is a level of
// the texture, and crops at level 0 or 1, in sizes that the server does not resize. What is returned counts as sent:
// later calls of this stream leave it out until it changes, saccade_stream_forget() says that it was lost, or the
// stream is opened again. There may be none. From the first call on the host waits for the damage of each frame.
SACCADE_API saccade_status saccade_stream_views(saccade_stream* stream, const saccade_views_settings* settings,
                                                saccade_views** out);
SACCADE_API void saccade_views_free(saccade_views* views);  // NULL is allowed
SACCADE_API saccade_status saccade_views_count(const saccade_views* views, size_t* count);

// One of them. Pointers live until the views are freed.
typedef struct saccade_view {
  size_t struct_size;
  const uint8_t* rgb;  // [height][width][3] R'G'B'. What lies beyond the frame is grey
  size_t rgb_bytes;
  const char* reason;  // "overview", "new", "looked at" or "detail"; static
  double scale;        // pixels of the view a pixel of the frame: 1 / 2^level
  int32_t width, height;
  int32_t level;  // of the texture
  int32_t tokens;
  int32_t box_x, box_y, box_width, box_height;  // pixels of the frame. May reach beyond its right and lower edges
} saccade_view;

// The overview comes first, the others from the top of the frame to its bottom.
SACCADE_API saccade_status saccade_views_get(const saccade_views* views, size_t index, saccade_view* out);

// ---- The way back --------------------------------------------------------------------------------------------------

// Pictures of the same scene. All coordinates are continuous: a pixel's centre is at a half.
typedef enum saccade_space {
  SACCADE_SPACE_FRAME = 0,    // pixels of the frame: after rotation, before the sample aspect ratio
  SACCADE_SPACE_DISPLAY = 1,  // of the frame with square pixels: the side that gains by the ratio is stretched
  SACCADE_SPACE_CODED = 2,    // of the picture as it is coded: before rotation and mirror
  SACCADE_SPACE_UV = 3        // 0 to 1 of the frame
} saccade_space;

typedef struct saccade_coordinates {
  size_t struct_size;
  int32_t answer;                   // saccade_answer; below 0: that of the rule
  int32_t space;                    // saccade_space
  int32_t seen_width, seen_height;  // with SACCADE_ANSWER_PIXELS: a server resized the view to this. 0: it did not
} saccade_coordinates;

// A point of view `index`, as the model gives it, in the frame; and back. coordinates: NULL: those of the rule, and
// SACCADE_SPACE_FRAME. A point outside of the view is extrapolated.
SACCADE_API saccade_status saccade_views_to_frame(const saccade_views* views, size_t index,
                                                  const saccade_coordinates* coordinates, double x, double y,
                                                  double* frame_x, double* frame_y);
SACCADE_API saccade_status saccade_views_from_frame(const saccade_views* views, size_t index,
                                                    const saccade_coordinates* coordinates, double frame_x,
                                                    double frame_y, double* x, double* y);

// The finest view that holds a point of the frame; SACCADE_END: none does.
SACCADE_API saccade_status saccade_views_find(const saccade_views* views, const saccade_coordinates* coordinates,
                                              double frame_x, double frame_y, size_t* index);

#ifdef __cplusplus
}
#endif

#endif
