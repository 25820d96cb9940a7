// libsaccade from C11: a test pattern whose every pixel is known by arithmetic, and the errors a caller meets first.
#include <math.h>
#include <saccade/saccade.h>
#include <saccade/tensor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 256, HEIGHT = 192, BOX = 64, FRAMES = 32, TILE = 16 };
static const char* const URI = "test://box?size=256x192&frames=32&rate=25";

#define CHECK(condition)                                                                                    \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, saccade_last_error()); \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

// The pattern "box": a square of Y, Cb, Cr = 220, 90, 180 that moves by (6, 4) a frame.
static int box_x(int64_t frame) { return (int)frame * 6; }
static int box_y(int64_t frame) { return (int)frame * 4; }
static int in_box(int64_t frame, int x, int y) {
  return frame >= 0 && x >= box_x(frame) && x < box_x(frame) + BOX && y >= box_y(frame) && y < box_y(frame) + BOX;
}

// Tiles that hold a pixel which the box covers in one of two frames alone; all of them in the first frame.
static int damaged_tiles(int64_t frame) {
  int count = 0;
  for (int tile_y = 0; tile_y < HEIGHT; tile_y += TILE) {
    for (int tile_x = 0; tile_x < WIDTH; tile_x += TILE) {
      int differs = frame == 0;
      for (int i = 0; i < TILE * TILE; ++i) {
        const int x = tile_x + i % TILE, y = tile_y + i / TILE;
        differs |= in_box(frame, x, y) != in_box(frame - 1, x, y);
      }
      count += differs;
    }
  }
  return count;
}

// BT.601, limited range: R'G'B' of the box, before rounding and clamping to a byte.
static double box_color(int channel) {
  const double y = (220 - 16) / 219.0, pb = (90 - 128) / 224.0, pr = (180 - 128) / 224.0;
  const double rgb[3] = {y + 1.402 * pr, y - 0.344136 * pb - 0.714136 * pr, y + 1.772 * pb};
  return 255 * fmin(fmax(rgb[channel], 0), 1);
}

// Patches whose samples all lie well inside the box have its colour. Returns how many there were.
static int check_patches(const saccade_emission_view* view) {
  const uint8_t* patch = view->patches;
  const int samples = view->patch_size * view->patch_size;
  int inside = 0;
  for (int n = 0; n < view->patch_count; ++n, patch += 3 * samples) {
    const double step = exp2(view->geometry[4 * n + 2]), reach = (view->patch_size / 2 + 4) * step;
    const double x = view->geometry[4 * n] * WIDTH - box_x(view->frame);
    const double y = view->geometry[4 * n + 1] * HEIGHT - box_y(view->frame);
    if (x < reach || y < reach || x > BOX - reach || y > BOX - reach) continue;
    ++inside;
    for (int i = 0; i < 3 * samples; ++i) CHECK(fabs(patch[i] - box_color(i / samples)) <= 1);
  }
  return inside;
}

// Level 0 holds the frame itself; level 1 the means of 2 x 2 texels.
static void check_texture(saccade_stream* stream, int64_t frame) {
  for (int plane = 0; plane < 2; ++plane) {
    saccade_level shape = {.struct_size = sizeof shape};
    CHECK(saccade_stream_get_level(stream, plane, 0, &shape) == SACCADE_OK);
    CHECK(shape.image_width == WIDTH >> plane && shape.image_height == HEIGHT >> plane);
    CHECK(shape.channels == plane + 1 && shape.bytes_per_channel == 1);
    uint8_t* texels = malloc(shape.size_bytes);
    CHECK(saccade_stream_read_level(stream, plane, 0, texels, shape.size_bytes) == SACCADE_OK);
    for (int y = 0; y < shape.image_height; ++y) {
      for (int x = 0; x < shape.image_width; ++x) {
        const uint8_t* texel = texels + ((size_t)y * (size_t)shape.width + (size_t)x) * (size_t)shape.channels;
        const int box = in_box(frame, x << plane, y << plane);
        if (plane == 0) CHECK(box ? texel[0] == 220 : texel[0] >= 48 && texel[0] <= 143);
        if (plane == 1) CHECK(texel[0] == (box ? 90 : 120) && texel[1] == (box ? 180 : 136));
      }
    }
    CHECK(saccade_stream_read_level(stream, plane, 0, texels, shape.size_bytes - 1) == SACCADE_ERROR_USAGE);
    free(texels);
  }
  saccade_level above = {.struct_size = sizeof above};
  CHECK(saccade_stream_get_level(stream, 0, 1, &above) == SACCADE_OK && above.image_width == WIDTH / 2);
  CHECK(saccade_stream_get_level(stream, 2, 0, &above) == SACCADE_ERROR_USAGE);
}

static void check_stream(saccade_options* options) {
  saccade_stream* stream = NULL;
  CHECK(saccade_stream_new(options, &stream) == SACCADE_OK);
  CHECK(saccade_stream_open(stream, URI) == SACCADE_OK);
  saccade_stream_info info = {.struct_size = sizeof info};
  CHECK(saccade_stream_get_info(stream, &info) == SACCADE_OK);
  CHECK(info.width_px == WIDTH && info.height_px == HEIGHT && info.fps == 25);
  CHECK(strcmp(info.uri, URI) == 0 && strcmp(info.matrix, "bt601") == 0 && info.frame_count == FRAMES);
  saccade_geometry geometry = {.struct_size = sizeof geometry};
  CHECK(saccade_stream_get_geometry(stream, &geometry) == SACCADE_OK);
  CHECK(strcmp(geometry.backend, "cpu") == 0 && geometry.patch_size == 16 && geometry.dtype == SACCADE_U8);

  // Five fixations a second, one in five frames: the eye follows the box.
  int emissions = 0;
  for (;; ++emissions) {
    const int64_t next = 5 * emissions + 1;
    const float u = (float)(box_x(next) + BOX / 2) / WIDTH, v = (float)(box_y(next) + BOX / 2) / HEIGHT;
    CHECK(saccade_stream_look(stream, u, v) == SACCADE_OK);
    saccade_emission* emission = NULL;
    const saccade_status status = saccade_stream_next(stream, -1, &emission);
    if (status == SACCADE_END) break;
    CHECK(status == SACCADE_OK);
    saccade_emission_view view = {.struct_size = sizeof view};
    CHECK(saccade_emission_get(emission, &view) == SACCADE_OK);
    CHECK(view.frame >= next - 1 && view.frame <= next + 1 && view.pts_ns == view.frame * 40000000);
    CHECK(view.fixation_u == u && view.fixation_v == v && view.in_flight == 0);
    CHECK(view.patch_count == geometry.patch_count && view.patches_bytes == geometry.patches_bytes);
    CHECK(view.damaged_tiles == damaged_tiles(view.frame));
    CHECK(check_patches(&view) >= 4);
    uint8_t* copy = malloc(view.patches_bytes);
    CHECK(saccade_emission_copy(emission, copy, view.patches_bytes, NULL, 0, NULL, 0) == SACCADE_OK);
    CHECK(memcmp(copy, view.patches, view.patches_bytes) == 0);
    free(copy);
    check_texture(stream, view.frame);
    saccade_emission_release(emission);
  }
  CHECK(emissions >= 6);
  saccade_emission* none = NULL;
  CHECK(saccade_stream_next(stream, -1, &none) == SACCADE_END && none == NULL);
  saccade_stream_end end = {.struct_size = sizeof end};
  CHECK(saccade_stream_get_end(stream, &end) == SACCADE_OK && end.ended == 1 && end.broke == 0);
  saccade_counters counters = {.struct_size = sizeof counters};
  CHECK(saccade_stream_get_counters(stream, &counters) == SACCADE_OK);
  CHECK(counters.frames == FRAMES && counters.emissions == emissions && counters.frames_decoded == FRAMES);
  saccade_stream_free(stream);
}

static void check_errors(saccade_options* options) {
  CHECK(saccade_options_set(options, "latice", "grid") == SACCADE_ERROR_USAGE);
  CHECK(strstr(saccade_last_error(), "lattice") != NULL);  // did you mean
  CHECK(saccade_last_error_status() == SACCADE_ERROR_USAGE);
  CHECK(saccade_options_set(options, "lattice", "hexagons") == SACCADE_ERROR_USAGE);
  CHECK(strstr(saccade_last_error(), "nested") != NULL);  // what is allowed
  saccade_stream* stream = NULL;
  CHECK(saccade_stream_new(NULL, &stream) == SACCADE_OK);
  CHECK(saccade_stream_open(stream, "no/such/file.mp4") == SACCADE_ERROR_INPUT);
  CHECK(strstr(saccade_last_error(), "no/such/file.mp4") != NULL);
  CHECK(saccade_stream_open(stream, URI) == SACCADE_OK);  // it may be opened again
  saccade_stream_free(stream);
}

int main(void) {
  CHECK(saccade_version() == SACCADE_VERSION);
  saccade_options* options = saccade_options_new();
  CHECK(saccade_options_set(options, "lattice", "nested") == SACCADE_OK);  // the eye follows the box
  CHECK(saccade_options_set(options, "backend", "cpu") == SACCADE_OK);
  CHECK(saccade_options_set(options, "rate", "5") == SACCADE_OK);
  check_stream(options);
  check_errors(options);
  saccade_options_free(options);
  puts("consumer.c: ok");
  return 0;
}
