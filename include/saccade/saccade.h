// libsaccade: a video, as the few patches that a model does not have yet. The whole C interface; see docs/API.md.
//
// Strings: UTF-8, ended by a zero. What the library returns belongs to the handle it was asked of.
//
// Coordinates: u, v in 0..1 of the frame as it is displayed, origin at the top left. Units stand in the names.
//
// Structs begin with `struct_size`: set it to sizeof the struct before a call. Later versions add fields at the end.
// A size that the struct never had is refused. saccade_array alone has none: see tensor.h.
//
// Threads: one thread at a time for each handle, and any number of handles at once. What differs says so.
//
// Errors: calls return a saccade_status. Below zero it is an error, and saccade_last_error() says more.
//
// OpenGL: a call with a stream of backend "gl" makes the stream's own context current while it lasts. Afterwards the
// thread's EGL context is the one that it was. CUDA: likewise the thread's current context.
//
// fork(): what was made before belongs to the parent, but for lattices. In the child every call with it fails
// (SACCADE_ERROR_USAGE), and freeing it does nothing. Make streams in the process that uses them.
//
// FFmpeg has one log function and one largest allocation (av_max_alloc) for a process. While a stream is open both are
// ours: messages of others' decoders go to FFmpeg's default function, and "max-pixels" bounds allocations. A function
// set meanwhile stays. What was set before is not restored: set both again after the last stream was freed.
#ifndef SACCADE_SACCADE_H
#define SACCADE_SACCADE_H

#include <stddef.h>
#include <stdint.h>

#define SACCADE_VERSION_MAJOR 0
#define SACCADE_VERSION_MINOR 2
#define SACCADE_VERSION_PATCH 0
#define SACCADE_VERSION (SACCADE_VERSION_MAJOR * 10000 + SACCADE_VERSION_MINOR * 100 + SACCADE_VERSION_PATCH)

#if defined(__GNUC__)
#define SACCADE_API __attribute__((visibility("default")))
#else
#define SACCADE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Versions and errors -------------------------------------------------------------------------------------------

// Of the library that runs: compare with SACCADE_VERSION, that of this header. Any thread.
SACCADE_API int saccade_version(void);
SACCADE_API const char* saccade_version_text(void);  // "0.2.0"

typedef enum saccade_status {
  SACCADE_OK = 0,
  SACCADE_LATER = 1,               // nothing yet: the time limit of the call has passed
  SACCADE_END = 2,                 // the stream is over
  SACCADE_ERROR_USAGE = -1,        // a setting or an argument is wrong, or conflicts with another one
  SACCADE_ERROR_INPUT = -2,        // the input can't be used, or broke
  SACCADE_ERROR_UNAVAILABLE = -3,  // a device or a library is missing or has failed; the input may be whole
  SACCADE_ERROR_INTERRUPTED = -4,  // saccade_stream_interrupt() was called
  SACCADE_ERROR_OUTPUT = -5,       // a result can't be written
  SACCADE_ERROR_MEMORY = -6,       // out of memory
  SACCADE_ERROR_INTERNAL = -7      // a fault of the library itself
} saccade_status;

SACCADE_API const char* saccade_status_name(saccade_status status);  // "ok", "later", "end", "usage", "input" ...

// Of the last call that failed on this thread; valid until the next one that fails. Empty and SACCADE_OK: none has.
SACCADE_API saccade_status saccade_last_error_status(void);
SACCADE_API const char* saccade_last_error(void);               // one line: the input's or option's name, the fault
SACCADE_API const char* saccade_last_error_hint(void);          // what to try, in a few words; often empty
SACCADE_API const char* saccade_last_error_option(size_t* at);  // "patch-size"; *at (or NULL): its byte in the line

// The hint as a number, for callers that name settings of their own in its place.
typedef enum saccade_hint {
  SACCADE_HINT_NONE = 0,
  SACCADE_HINT_SMALLER_FRAME = 1,
  SACCADE_HINT_SMALLER_FRAME_OR_CPU = 2,  // the CPU's texture may be larger
  SACCADE_HINT_LESS_MEMORY = 3,           // a smaller frame or fewer levels
  SACCADE_HINT_RAISE_PIXEL_LIMIT = 4,     // "max-pixels"
  SACCADE_HINT_FEWER_LEVELS = 5,
  SACCADE_HINT_MORE_LEVELS = 6,
  SACCADE_HINT_FEWER_PATCHES = 7,
  SACCADE_HINT_MORE_PATCHES = 8,
  SACCADE_HINT_CPU_BACKEND = 9,
  SACCADE_HINT_OTHER_BACKEND = 10,
  SACCADE_HINT_GL_BACKEND = 11,
  SACCADE_HINT_DIRECT_UPLOAD = 12,
  SACCADE_HINT_CPU_DECODING = 13,
  SACCADE_HINT_OFFSCREEN = 14,    // no window can be had
  SACCADE_HINT_CHECK_RANGE = 15,  // "start" and "duration"
  SACCADE_HINT_NO_LOOP = 16,
  SACCADE_HINT_RAW_PARAMETERS = 17,       // raw video says nothing about itself
  SACCADE_HINT_NO_INPUT_PARAMETERS = 18,  // the input says that itself
  SACCADE_HINT_CHECK_FILTERS = 19,
  SACCADE_HINT_NO_FILTERS = 20,
  SACCADE_HINT_CONVERT_FORMAT = 21,
  SACCADE_HINT_LONGER_TIMEOUT = 22,
  SACCADE_HINT_ALLOW_NETWORK = 23,
  SACCADE_HINT_CUDA_BACKEND = 24
} saccade_hint;
SACCADE_API saccade_hint saccade_last_error_hint_code(void);  // a number that this header lacks: read the text

// ---- Options -------------------------------------------------------------------------------------------------------

// Settings of a stream, by the names and in the words of the command line: "lattice" = "nested" ("adaptive" without).
typedef struct saccade_options saccade_options;

SACCADE_API saccade_options* saccade_options_new(void);           // with every default; NULL: out of memory
SACCADE_API void saccade_options_free(saccade_options* options);  // NULL is allowed

// An unknown name or a wrong text fails and changes nothing. saccade_stream_new() finds settings that conflict.
SACCADE_API saccade_status saccade_options_set(saccade_options* options, const char* name, const char* text);

// The setting as text that saccade_options_set() reads back to the same; empty: not set, and without a default.
// `text` is valid until the next saccade_options_get() of these options.
SACCADE_API saccade_status saccade_options_get(saccade_options* options, const char* name, const char** text);

typedef enum saccade_value_kind {
  SACCADE_VALUE_FLAG = 0,            // true or false
  SACCADE_VALUE_TEXT = 1,            // any text but an empty one
  SACCADE_VALUE_CHOICE = 2,          // one of `choices`
  SACCADE_VALUE_INTEGER = 3,         // `lowest` to `highest`
  SACCADE_VALUE_NUMBER = 4,          // likewise
  SACCADE_VALUE_INTEGERS = 5,        // "1,2,4": likewise each
  SACCADE_VALUE_WORD_OR_INTEGER = 6  // one of `choices`, or `lowest` to `highest`
} saccade_value_kind;

// One row of the table of options. All strings live as long as the library; those that do not apply are empty.
typedef struct saccade_option {
  size_t struct_size;
  const char* name;          // "tokens"
  const char* group;         // "Fovea and patches": for lists
  const char* help;          // what it does, one line
  const char* more;          // what a manual adds
  const char* metavar;       // "N": what stands for the value in a usage line
  const char* default_text;  // as saccade_options_get() gives it
  const char* choices;       // "nested|grid|uniform|adaptive"
  double lowest, highest;
  int32_t kind;           // saccade_value_kind
  int32_t shapes_result;  // 1: another value may give other samples
  const char* instead;    // not empty: the option leaves with the next version, and this replaces it
} saccade_option;

SACCADE_API size_t saccade_option_count(void);
SACCADE_API saccade_status saccade_option_describe(size_t index, saccade_option* out);

typedef enum saccade_log_level {
  SACCADE_LOG_DEBUG = 0,
  SACCADE_LOG_INFO = 1,
  SACCADE_LOG_WARNING = 2,
  SACCADE_LOG_ERROR = 3
} saccade_log_level;

// One line without its newline, valid during the call. Comes on any thread of a stream, several at once, until
// saccade_stream_free() has returned. Must not call into that stream.
typedef void (*saccade_log_function)(void* user, saccade_log_level level, const char* line);

// Messages of streams made from these options, from level `least` on. Without one they are dropped: the library itself
// writes nowhere. NULL takes the function away.
SACCADE_API saccade_status saccade_options_set_log(saccade_options* options, saccade_log_level least,
                                                   saccade_log_function function, void* user);

// SACCADE_OK where backend "cpu", "gl" or "cuda" can be used here; else SACCADE_ERROR_UNAVAILABLE, and
// saccade_last_error() says why not. device: of "cuda", by CUDA's ordinal; the others take 0. Any thread.
SACCADE_API saccade_status saccade_backend_check(const char* backend, int device);

// ---- Streams -------------------------------------------------------------------------------------------------------

// A source, its decoding thread, and the texture that patches are sampled from. With backend "gl" all calls but
// saccade_stream_interrupt() come from the thread that opened it.
typedef struct saccade_stream saccade_stream;

// Checks and copies the options (NULL: the defaults). Opens nothing and does not wait. Here and where a source is
// opened, an option that was set, not to its default, and does nothing is refused.
SACCADE_API saccade_status saccade_stream_new(const saccade_options* options, saccade_stream** out);

// Opens `uri` (a path, "-", a URL or device, "screen:", "lavfi:GRAPH", "test://NAME") and waits for its first frame,
// whose size decides all others. Again: goes on with another source. After an error the stream may be opened again.
SACCADE_API saccade_status saccade_stream_open(saccade_stream* stream, const char* uri);

// Any thread, at any moment before saccade_stream_free(): opening and waiting end promptly, and they and all later ones
// return SACCADE_ERROR_INTERRUPTED. There is no way back.
SACCADE_API saccade_status saccade_stream_interrupt(saccade_stream* stream);

// Ends decoding and gives all memory back, but for emissions that the caller still owns. NULL is allowed.
SACCADE_API void saccade_stream_free(saccade_stream* stream);

// Facts of the source that is open, by the names that meta.json and the program have for them. Strings live until the
// stream is opened again or freed.
typedef struct saccade_stream_info {
  size_t struct_size;
  const char* uri;           // as it may be shown: users, passwords and tokens of a URL are "***"
  const char* container;     // FFmpeg's short names, or "test"
  const char* codec;         // "h264"
  const char* decoder;       // the one in use: "h264", "libdav1d"
  const char* hwdec;         // what decodes: "no" or "cuda"
  const char* hwdec_reason;  // why it is not the GPU, where that was asked for
  const char* pixel_format;  // of the decoder, before any conversion: "yuv420p10le"
  const char* layout;        // as frames come: "i420", "nv12", "i420p16", "p016", "rgba8"
  const char* matrix;        // "bt601", "bt709", "bt2020nc", "smpte240m"
  const char* range;         // "limited" or "full"
  const char* filters;       // the FFmpeg graph that converts; empty: frames pass straight through
  const char* const* notes;  // what is done to the picture, a sentence each
  size_t note_count;
  double sar;                   // width of a pixel over its height
  double fps;                   // on average; 0: unknown
  int64_t duration_ns;          // -1: unknown
  int64_t frame_count;          // as the container promises; -1: unknown
  int32_t width_px, height_px;  // as displayed: after rotation, filters and conversion
  int32_t coded_width_px, coded_height_px;
  int32_t stream_index;                 // among the input's streams
  int32_t depth_bits;                   // of a sample, 8 to 16
  int32_t rotation_deg;                 // that was applied, clockwise: 0, 90, 180, 270
  int32_t mirrored, deinterlaced;       // 0 or 1: that was applied
  int32_t matrix_tagged, range_tagged;  // 0: the stream, or a pushed format, didn't say; a default rule did
  int32_t live;                         // 1: a camera or a network stream; frames come by the clock
} saccade_stream_info;

SACCADE_API saccade_status saccade_stream_get_info(saccade_stream* stream, saccade_stream_info* out);

// The facts of a source that stays closed: it is opened, read as far as they need, and closed again. What the stream
// had open is closed before. Ends on saccade_stream_interrupt(), as opening does.
SACCADE_API saccade_status saccade_stream_probe(saccade_stream* stream, const char* uri, saccade_stream_info* out);

typedef enum saccade_dtype { SACCADE_U8 = 0, SACCADE_F16 = 1, SACCADE_F32 = 2 } saccade_dtype;

// Shapes, known and fixed while a source is open. Strings live until the stream is opened again or freed.
typedef struct saccade_geometry {
  size_t struct_size;
  const char* backend;         // "cpu", "gl", "cuda"
  const char* backend_reason;  // why "auto" chose it; else empty
  const char* lattice;         // one line for people
  const char* texture;         // "yuv8", "yuv16", "rgba8"
  size_t patches_bytes;        // of one emission: N x 3 x S x S samples
  double m0, e0;               // lod(e) = clamp(log2((e + e0) / m0), 0, levels - 1), as solved
  int32_t patch_count;         // N
  int32_t patch_size;          // S: samples along a patch's side
  int32_t dtype;               // saccade_dtype of a sample
  int32_t width_px, height_px;
  int32_t levels;                // of plane 0
  int32_t plane_count;           // 2: luma and chroma (a level less); 1: RGBA
  int32_t tile_cols, tile_rows;  // damage is found by tiles of 16 x 16 pixels
} saccade_geometry;

SACCADE_API saccade_status saccade_stream_get_geometry(saccade_stream* stream, saccade_geometry* out);

// ---- Emissions -----------------------------------------------------------------------------------------------------

// The patches of one fixation. The caller owns it until saccade_emission_release(), also beyond its stream; many may be
// held, each with memory of its own. Any thread may read and release it.
typedef struct saccade_emission saccade_emission;

// Takes frames through the texture until patches are due, and gives them in `out` (else NULL there).
// SACCADE_LATER once `timeout_ms` have passed, after one frame's work at most; below 0: no limit; 0: does not wait.
// SACCADE_END at the stream's end; an error where it broke. Both stay until another source is opened.
SACCADE_API saccade_status saccade_stream_next(saccade_stream* stream, int64_t timeout_ms, saccade_emission** out);

// A look into an emission. Pointers live until it is released; what they point to never changes.
typedef struct saccade_emission_view {
  size_t struct_size;
  const void* patches;  // [N][3][S][S]: R'G'B' samples of `dtype`
  size_t patches_bytes;
  // [N][4]: the centre's u and v, lod (a sample is 2^lod pixels wide), coverage (share of samples inside the frame)
  const float* geometry;
  const uint8_t* changed;    // [N]: 0 where these are the very bytes last emitted at this place
  int64_t frame;             // its number, from 0; a dropped frame leaves a hole
  int64_t pts_ns;            // presentation time, as the stream gives it
  int64_t captured_unix_ns;  // live sources: when the frame was captured; else 0
  int64_t age_ns;            // live sources: from capture until these patches were there; else 0
  float fixation_u, fixation_v;
  int32_t in_flight;           // 1: in the middle of a saccade
  int32_t damaged_tiles;       // of this frame
  int32_t gaps;                // live sources: how often the stream was interrupted before
  int32_t patch_count;         // N
  int32_t patch_size;          // S
  int32_t dtype;               // saccade_dtype
  float pointer_u, pointer_v;  // screens: what the pointer points at, 0 to 1 of the frame; NaN: nothing in it
} saccade_emission_view;

// Waits for a GPU that is still writing the patches; fails where it has failed.
SACCADE_API saccade_status saccade_emission_get(const saccade_emission* emission, saccade_emission_view* out);

// Copies each of the three whose pointer isn't NULL. Sizes in bytes are exact: patches_bytes, N x 4 floats, N bytes.
SACCADE_API saccade_status saccade_emission_copy(const saccade_emission* emission, void* patches, size_t patches_bytes,
                                                 float* geometry, size_t geometry_bytes, uint8_t* changed,
                                                 size_t changed_bytes);

// Gives its memory back to the stream for a later emission. NULL is allowed.
SACCADE_API void saccade_emission_release(saccade_emission* emission);

// ---- Into the caller's memory -------------------------------------------------------------------------------------

typedef enum saccade_memory { SACCADE_HOST = 0, SACCADE_CUDA = 1 } saccade_memory;

// Where an emission is to be written. Memory that is not wanted is NULL, but for `patches`. All pointers are of the
// same kind, aligned to their type; a slot of a batch will do. Fields that stay zero mean: host memory, u8.
typedef struct saccade_target {
  size_t struct_size;
  void* patches;           // [N][3][S][S] of `dtype`
  size_t patches_bytes;    // their exact size
  float* geometry;         // [N][4], as in saccade_emission_view
  uint8_t* changed;        // [N], likewise
  int32_t* damaged_tiles;  // [1], likewise
  // SACCADE_CUDA: the cudaStream_t in whose order this memory is the caller's. NULL: the legacy default stream.
  void* cuda_stream;
  int32_t memory;  // saccade_memory
  int32_t device;  // SACCADE_CUDA: CUDA's ordinal, that of the stream's backend
  int32_t dtype;   // saccade_dtype, whatever the option "dtype" says
  // f16, f32: (sample - mean) / deviation of samples in 0..1, by channel; a deviation of 0 stands for 1.
  float mean[3], deviation[3];
} saccade_target;

// saccade_stream_next() that writes the emission into `target`, with no copy between. SACCADE_LATER, SACCADE_END and
// errors leave that memory as it was, but for a device's failure while it writes. `out` (NULL: not wanted) gets the
// rest: patches is the target's pointer, geometry is host memory of the stream's, valid until the next call with it.
//
// Host memory: all is there on return. `changed` in `out` is the target's, or the stream's memory where that is NULL.
//
// CUDA memory (backend "cuda"): the host waits for nothing. The work runs after what `cuda_stream` has queued before
// the call, and what it queues after the call runs after the work: use, free and reuse the memory in its order. `out`
// has changed NULL and damaged_tiles -1: they are made on the device, for those who ask for them by target->changed and
// target->damaged_tiles. Lattice "adaptive" and fixations "novelty" and "saliency" make the host wait for each frame.
// A call that follows one with the other kind of memory, or another dtype or normalization, has `changed` all 1.
SACCADE_API saccade_status saccade_stream_next_into(saccade_stream* stream, int64_t timeout_ms,
                                                    const saccade_target* target, saccade_emission_view* out);

// ---- Frames of the caller's ----------------------------------------------------------------------------------------

typedef enum saccade_pixels {
  SACCADE_PIXELS_RGB8 = 0,         // one plane of R, G, B: [H][W][3]
  SACCADE_PIXELS_BGR8 = 1,         // one plane of B, G, R
  SACCADE_PIXELS_RGB8_PLANAR = 2,  // three planes: R, G, B; of [3][H][W] their pointers
  SACCADE_PIXELS_RGBA8 = 3,        // one plane; A is not looked at, but counts as a difference
  SACCADE_PIXELS_GRAY8 = 4,        // one plane
  SACCADE_PIXELS_I420 = 5,         // Y, Cb, Cr; chroma planes of (W + 1) / 2 x (H + 1) / 2
  SACCADE_PIXELS_NV12 = 6,         // Y; Cb and Cr interleaved
  SACCADE_PIXELS_P010 = 7          // as NV12, in 16 bits, of which the upper 10 count
} saccade_pixels;

// What all frames of a stream have in common. Zeros give the defaults.
typedef struct saccade_frame_format {
  size_t struct_size;
  int32_t pixels;               // saccade_pixels
  int32_t width_px, height_px;  // as displayed
  int32_t memory;               // saccade_memory of the first frame: memory is set aside by it
  const char* matrix;  // of YCbCr: "bt601", "bt709", "bt2020nc", "smpte240m"; NULL: by size, as of untagged video
  const char* range;   // of YCbCr and gray: "limited" or "full"; NULL: limited, gray full
  double sar;          // width of a pixel over its height; 0: 1
  double fps;          // for saccade_stream_info alone; 0: unknown
} saccade_frame_format;

typedef struct saccade_frame {
  size_t struct_size;
  const void* planes[4];     // the first sample of each plane's top row
  int64_t pitches_bytes[4];  // from a row to the row below; may be negative. 0: rows without padding
  int64_t pts_ns;     // -4e18 to 4e18: their own time, which fixations go by. Where it falls, the scanpath restarts
  void* cuda_stream;  // SACCADE_CUDA: the cudaStream_t in whose order the planes are the caller's
  int32_t memory, device;     // saccade_memory; SACCADE_CUDA: CUDA's ordinal, that of the stream's backend
  const int32_t* may_differ;  // [n][4] px: left, top, right, bottom. Outside it equals the last frame. NULL: not known
  size_t may_differ_count;    // n. What changed outside may be missed until a box, or a frame without, covers it
} saccade_frame;

// Instead of a source: frames come by saccade_stream_push(). Options of sources are refused.
SACCADE_API saccade_status saccade_stream_open_frames(saccade_stream* stream, const saccade_frame_format* format);

// Takes a frame through the texture, on the caller's thread. `due` (NULL: not wanted) becomes 1 where patches are due:
// saccade_stream_next() or _next_into() then gives them, at once, and must do so before the next frame is pushed.
// Without such it says SACCADE_LATER, whatever its time limit. Host memory is the caller's again on return; device
// memory in the order of `cuda_stream`, as in saccade_stream_next_into(). The planes are only read.
// CUDA graphs: with device frames, a device target, lattice "nested" and a fixation that doesn't move, a push and a
// next_into can be captured on the caller's stream, after a few that were not; each replay takes what is there then.
SACCADE_API saccade_status saccade_stream_push(saccade_stream* stream, const saccade_frame* frame, int32_t* due);

// No frame follows: saccade_stream_next() says SACCADE_END after what is due.
SACCADE_API saccade_status saccade_stream_push_end(saccade_stream* stream);

// ---- Where to look -------------------------------------------------------------------------------------------------

// The next fixation that begins is here, whatever else decides; those after it are the scanpath's again.
SACCADE_API saccade_status saccade_stream_look(saccade_stream* stream, float u, float v);

// From now on fixations fall on the peak of this map, with inhibition of return, until the next map; NULL: the
// scanpath's again. map: [height][width] weights, row by row, copied; only their differences count, NaN and -inf are
// never looked at. uv_box: left, top, right, bottom of the map in the frame; NULL: all of it. Ends when the stream is
// opened again.
SACCADE_API saccade_status saccade_stream_attend(saccade_stream* stream, const float* map, int height, int width,
                                                 const float uv_box[4]);

typedef struct saccade_fixation_request {
  size_t struct_size;
  int64_t fixation;       // its number, from 0
  int64_t frame, pts_ns;  // the number and the time of the frame at which it is asked for
  float u, v;             // where the eye is; 0.5, 0.5 before the first one
  int32_t first;          // 1: nothing was fixated before
} saccade_fixation_request;

// Where the next fixation is: SACCADE_OK with both filled in; SACCADE_LATER leaves it to map and scanpath; an error
// ends the call that asked with that status. Called on the thread that takes frames, during saccade_stream_next(),
// _next_into() or _push(); must not call into that stream, but for _read_level() and _interrupt().
typedef saccade_status (*saccade_fixation_function)(void* user, const saccade_fixation_request* request, float* u,
                                                    float* v);

// Asked whenever a fixation is due, before a map and the option "fixation"; NULL: nobody is. Holds until it is
// replaced, also beyond saccade_stream_open().
SACCADE_API saccade_status saccade_stream_set_fixation(saccade_stream* stream, saccade_fixation_function function,
                                                       void* user);

// In place of the option "fixation": rows of t_s, u, v with t_s rising from the first frame's time on, as in a file.
// Copied. From the next saccade_stream_open() on; `rows` 0: as the options say again.
SACCADE_API saccade_status saccade_stream_set_scanpath(saccade_stream* stream, const double* t_u_v, size_t rows);

// ---- The texture and the counters ----------------------------------------------------------------------------------

// One level of one plane, rows without padding between them. Includes what pads the frame to whole levels.
typedef struct saccade_level {
  size_t struct_size;
  size_t size_bytes;
  int32_t width, height;                // texels
  int32_t image_width, image_height;    // texels that hold the frame; the rest repeats its edge
  int32_t channels, bytes_per_channel;  // 1 or 2 (luma; Cb, Cr), 4 (RGBA)
} saccade_level;

// plane 0: luma or RGBA, 1: chroma. Level l holds true means of 4^l texels, rounded once.
SACCADE_API saccade_status saccade_stream_get_level(saccade_stream* stream, int plane, int level, saccade_level* out);

// Copies a level, as the last frame that was taken left it, into `texels`, whose size must be that of the level. Before
// the first frame was taken there is none: SACCADE_ERROR_USAGE.
SACCADE_API saccade_status saccade_stream_read_level(saccade_stream* stream, int plane, int level, void* texels,
                                                     size_t size_bytes);

// Totals since opening. The source's own are 0 until the end: its thread still counts.
typedef struct saccade_counters {
  size_t struct_size;
  int64_t frames;  // through the texture
  int64_t emissions;
  int64_t damaged_tiles, tiles;      // the former of the latter
  int64_t patches, patches_changed;  // emitted, and how many of them had changed
  int64_t bytes_uploaded;            // written to level 0 of the texture
  int64_t frames_dropped;            // by the queue: a newer one was there
  int64_t frames_decoded;            // the source's, from here on
  int64_t frames_corrupt;            // delivered, but flagged as damaged
  int64_t frames_off_device;         // decoded on the CPU after the GPU had decoded the first one
  int64_t packets_corrupt;
  int64_t packets_late;  // left out because decoding was behind a live stream
  int64_t format_changes;
  int64_t gaps;           // connections of a live stream that were lost and replaced
  int64_t gaps_ns;        // their length in all
  int32_t truncated;      // 1: the container ended before its promise
  int64_t late_ns;        // what packets_late would have lasted
  int64_t packets_lost;   // on the way: gaps in what the sender numbered
  int64_t segments_lost;  // of HLS and DASH: that could not be fetched
} saccade_counters;

SACCADE_API saccade_status saccade_stream_get_counters(saccade_stream* stream, saccade_counters* out);

// How a stream ended. `reason` lives until the stream is opened again or freed.
typedef struct saccade_stream_end {
  size_t struct_size;
  const char* reason;  // in words; empty: it was over
  int32_t ended;       // 0: it goes on
  int32_t broke;       // 1: by an error, a time limit or a device that was pulled
} saccade_stream_end;

SACCADE_API saccade_status saccade_stream_get_end(saccade_stream* stream, saccade_stream_end* out);

// What the library holds in this process, for tests of leaks. Any thread.
typedef struct saccade_memory_use {
  size_t struct_size;
  int64_t streams;                      // handles that were made and not freed
  int64_t emissions;                    // that callers own
  int64_t gl_buffers;                   // handles
  int64_t device_bytes;                 // buffers and textures on devices, without what decoders take
  int64_t pinned_bytes;                 // page-locked memory of the host
  int64_t lattices, hardware_textures;  // handles, of tensor.h
} saccade_memory_use;

SACCADE_API saccade_status saccade_get_memory_use(saccade_memory_use* out);

// ---- OpenGL buffers ------------------------------------------------------------------------------------------------

// A pixel buffer of the caller's OpenGL context, known to CUDA: device memory gets into it without a way over the host.
// One thread at a time; the context that was current when it was made must be current in every call with it.
typedef struct saccade_gl_buffer saccade_gl_buffer;

// `buffer` is a GL buffer's name, with storage. device: CUDA's ordinal, the GPU that the context is on.
SACCADE_API saccade_status saccade_gl_buffer_new(unsigned buffer, int device, saccade_gl_buffer** out);

// Copies device memory to the buffer's byte `offset` and on, in the order of `cuda_stream`. OpenGL work that follows
// the call sees it. wait: 0: the driver keeps that order, and the host waits for nothing; 1: until the copy is done.
SACCADE_API saccade_status saccade_gl_buffer_write(saccade_gl_buffer* buffer, const void* device_memory,
                                                   size_t size_bytes, size_t offset, void* cuda_stream, int wait);

SACCADE_API saccade_status saccade_gl_buffer_size(saccade_gl_buffer* buffer, size_t* size_bytes);

// Takes the buffer from CUDA; it stays OpenGL's. NULL is allowed.
SACCADE_API void saccade_gl_buffer_free(saccade_gl_buffer* buffer);

#ifdef __cplusplus
}
#endif

#endif
