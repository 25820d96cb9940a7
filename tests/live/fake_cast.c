/* A screen cast that a test draws: WIDTH HEIGHT as arguments, one command a line on stdin, each answered by "ok".
 *   fill X Y WIDTH HEIGHT RRGGBB    into the picture, which stays here
 *   pointer X Y                     where the pointer is: a white square of 8x8, its hot spot at 2,3
 *   send NUMBER X Y WIDTH HEIGHT    the picture, as number NUMBER, with this damage
 *   move NUMBER                     the pointer alone
 * Prints "node N" first. */
#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER = 8 };
static int width, height, pointer_x, pointer_y;
static uint32_t* picture;
static struct pw_thread_loop* loop;
static struct pw_stream* stream;

static void on_state(void* data, enum pw_stream_state before, enum pw_stream_state now, const char* error) {
  (void)data, (void)before;
  if (now == PW_STREAM_STATE_PAUSED && before == PW_STREAM_STATE_CONNECTING)
    printf("node %u\n", pw_stream_get_node_id(stream)), fflush(stdout);
  if (now == PW_STREAM_STATE_ERROR) printf("error %s\n", error), fflush(stdout);
}

static void on_param(void* data, uint32_t id, const struct spa_pod* param) {
  (void)data;
  if (param == NULL || id != SPA_PARAM_Format) return;
  uint8_t memory[1024];
  struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof memory);
  const int cursor = sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + POINTER * POINTER * 4;
  const struct spa_pod* params[] = {
      spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers, SPA_POD_Int(4),
                                 SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int(width * height * 4),
                                 SPA_PARAM_BUFFERS_stride, SPA_POD_Int(width * 4), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd)),
      spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
                                 SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_header))),
      spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoDamage),
                                 SPA_PARAM_META_size, SPA_POD_Int(4 * sizeof(struct spa_meta_region))),
      spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Cursor),
                                 SPA_PARAM_META_size, SPA_POD_Int(cursor))};
  pw_stream_update_params(stream, params, 4);
}

static const struct pw_stream_events events = {PW_VERSION_STREAM_EVENTS, .state_changed = on_state, .param_changed = on_param};

static void put_pointer(struct spa_buffer* buffer) {
  struct spa_meta_cursor* cursor = spa_buffer_find_meta_data(buffer, SPA_META_Cursor, sizeof *cursor);
  if (cursor == NULL) return;
  *cursor = (struct spa_meta_cursor){.id = 1, .position = {pointer_x, pointer_y}, .hotspot = {2, 3}, .bitmap_offset = sizeof *cursor};
  struct spa_meta_bitmap* bitmap = SPA_PTROFF(cursor, sizeof *cursor, struct spa_meta_bitmap);
  *bitmap = (struct spa_meta_bitmap){SPA_VIDEO_FORMAT_BGRA, {POINTER, POINTER}, POINTER * 4, sizeof *bitmap};
  memset(bitmap + 1, 0xff, POINTER * POINTER * 4);
}

static int put(int number, int with_pixels, int x, int y, int w, int h) {
  struct pw_buffer* buffer = pw_stream_dequeue_buffer(stream);
  if (buffer == NULL) return 0;
  struct spa_buffer* to = buffer->buffer;
  struct spa_meta_header* header = spa_buffer_find_meta_data(to, SPA_META_Header, sizeof *header);
  *header = (struct spa_meta_header){.flags = with_pixels ? 0 : SPA_META_HEADER_FLAG_CORRUPTED, .pts = -1, .seq = (uint64_t)number};
  struct spa_meta_region* damage = spa_buffer_find_meta_data(to, SPA_META_VideoDamage, sizeof *damage);
  memset(damage, 0, 4 * sizeof *damage);
  damage[0].region = SPA_REGION(x, y, (uint32_t)w, (uint32_t)h);
  put_pointer(to);
  if (with_pixels) memcpy(to->datas[0].data, picture, (size_t)(width * height) * 4);
  to->datas[0].chunk->offset = 0;
  to->datas[0].chunk->stride = width * 4;
  to->datas[0].chunk->size = with_pixels ? (uint32_t)(width * height * 4) : 0;
  pw_stream_queue_buffer(stream, buffer);
  return 1;
}

static int obey(const char* line) {
  int x, y, w, h, number;
  unsigned color;
  if (sscanf(line, "fill %d %d %d %d %x", &x, &y, &w, &h, &color) == 5) {
    for (int row = y; row < y + h; ++row)
      for (int column = x; column < x + w; ++column) picture[row * width + column] = color;
    return 1;
  }
  if (sscanf(line, "pointer %d %d", &pointer_x, &pointer_y) == 2) return 1;
  if (sscanf(line, "send %d %d %d %d %d", &number, &x, &y, &w, &h) == 5) return put(number, 1, x, y, w, h);
  return sscanf(line, "move %d", &number) == 1 && put(number, 0, 0, 0, 0, 0);
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  width = atoi(arguments[1]);
  height = atoi(arguments[2]);
  picture = calloc((size_t)(width * height), 4);
  pw_init(NULL, NULL);
  loop = pw_thread_loop_new("cast", NULL);
  uint8_t memory[1024];
  struct spa_pod_builder b = SPA_POD_BUILDER_INIT(memory, sizeof memory);
  const struct spa_pod* format = spa_pod_builder_add_object(
      &b, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx), SPA_FORMAT_VIDEO_size,
      SPA_POD_Rectangle(&SPA_RECTANGLE((uint32_t)width, (uint32_t)height)), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&SPA_FRACTION(0, 1)),
      SPA_FORMAT_VIDEO_maxFramerate, SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(60, 1), &SPA_FRACTION(1, 1), &SPA_FRACTION(60, 1)));
  pw_thread_loop_lock(loop);
  stream = pw_stream_new_simple(pw_thread_loop_get_loop(loop), "cast", pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", NULL), &events, NULL);
  pw_stream_connect(stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS, &format, 1);
  pw_thread_loop_start(loop);
  pw_thread_loop_unlock(loop);
  char line[256];
  while (fgets(line, sizeof line, stdin) != NULL) {
    pw_thread_loop_lock(loop);
    const int done = obey(line);
    pw_thread_loop_unlock(loop);
    printf(done ? "ok\n" : "not done\n");
    fflush(stdout);
  }
  return 0;
}
