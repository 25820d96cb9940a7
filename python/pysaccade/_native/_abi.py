"""libsaccade's C interface for ctypes. Written by python/tools/make_abi.py from the headers: don't edit.

Handles (`saccade_stream*` and the like) are addresses. Pointers to samples are addresses too.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint, c_void_p
from typing import Annotated, Any, TypeVar

_Struct = TypeVar("_Struct", bound=type[ctypes.Structure])

# A struct's field: what Python reads from it, and its C type
Size = Annotated[int, c_size_t]
Int32 = Annotated[int, c_int32]
Int64 = Annotated[int, c_int64]
Float = Annotated[float, c_float]
Double = Annotated[float, c_double]
Text = Annotated[bytes | None, c_char_p]
Address = Annotated[int | None, c_void_p]


def _laid_out(struct: _Struct) -> _Struct:
    struct._fields_ = [(name, kind.__metadata__[0]) for name, kind in struct.__annotations__.items()]
    return struct


VERSION = (0, 2)  # of the header: major, minor

# saccade_status
SACCADE_OK = 0
SACCADE_LATER = 1
SACCADE_END = 2
SACCADE_ERROR_USAGE = -1
SACCADE_ERROR_INPUT = -2
SACCADE_ERROR_UNAVAILABLE = -3
SACCADE_ERROR_INTERRUPTED = -4
SACCADE_ERROR_OUTPUT = -5
SACCADE_ERROR_MEMORY = -6
SACCADE_ERROR_INTERNAL = -7

# saccade_hint
SACCADE_HINT_NONE = 0
SACCADE_HINT_SMALLER_FRAME = 1
SACCADE_HINT_SMALLER_FRAME_OR_CPU = 2
SACCADE_HINT_LESS_MEMORY = 3
SACCADE_HINT_RAISE_PIXEL_LIMIT = 4
SACCADE_HINT_FEWER_LEVELS = 5
SACCADE_HINT_MORE_LEVELS = 6
SACCADE_HINT_FEWER_PATCHES = 7
SACCADE_HINT_MORE_PATCHES = 8
SACCADE_HINT_CPU_BACKEND = 9
SACCADE_HINT_OTHER_BACKEND = 10
SACCADE_HINT_GL_BACKEND = 11
SACCADE_HINT_DIRECT_UPLOAD = 12
SACCADE_HINT_CPU_DECODING = 13
SACCADE_HINT_OFFSCREEN = 14
SACCADE_HINT_CHECK_RANGE = 15
SACCADE_HINT_NO_LOOP = 16
SACCADE_HINT_RAW_PARAMETERS = 17
SACCADE_HINT_NO_INPUT_PARAMETERS = 18
SACCADE_HINT_CHECK_FILTERS = 19
SACCADE_HINT_NO_FILTERS = 20
SACCADE_HINT_CONVERT_FORMAT = 21
SACCADE_HINT_LONGER_TIMEOUT = 22
SACCADE_HINT_ALLOW_NETWORK = 23
SACCADE_HINT_CUDA_BACKEND = 24

# saccade_value_kind
SACCADE_VALUE_FLAG = 0
SACCADE_VALUE_TEXT = 1
SACCADE_VALUE_CHOICE = 2
SACCADE_VALUE_INTEGER = 3
SACCADE_VALUE_NUMBER = 4
SACCADE_VALUE_INTEGERS = 5
SACCADE_VALUE_WORD_OR_INTEGER = 6

# saccade_log_level
SACCADE_LOG_DEBUG = 0
SACCADE_LOG_INFO = 1
SACCADE_LOG_WARNING = 2
SACCADE_LOG_ERROR = 3

# saccade_dtype
SACCADE_U8 = 0
SACCADE_F16 = 1
SACCADE_F32 = 2

# saccade_memory
SACCADE_HOST = 0
SACCADE_CUDA = 1

# saccade_pixels
SACCADE_PIXELS_RGB8 = 0
SACCADE_PIXELS_BGR8 = 1
SACCADE_PIXELS_RGB8_PLANAR = 2
SACCADE_PIXELS_RGBA8 = 3
SACCADE_PIXELS_GRAY8 = 4
SACCADE_PIXELS_I420 = 5
SACCADE_PIXELS_NV12 = 6
SACCADE_PIXELS_P010 = 7

# saccade_resizing
SACCADE_RESIZING_MULTIPLES = 0
SACCADE_RESIZING_BUDGET = 1
SACCADE_RESIZING_PADDED = 2
SACCADE_RESIZING_TILES = 3
SACCADE_RESIZING_ASPECT = 4
SACCADE_RESIZING_ANYRES = 5
SACCADE_RESIZING_FIXED = 6
SACCADE_RESIZING_CROPPED = 7

# saccade_answer
SACCADE_ANSWER_PIXELS = 0
SACCADE_ANSWER_THOUSANDTHS = 1
SACCADE_ANSWER_NORMALIZED = 2

# saccade_space
SACCADE_SPACE_FRAME = 0
SACCADE_SPACE_DISPLAY = 1
SACCADE_SPACE_CODED = 2
SACCADE_SPACE_UV = 3

# saccade_tensor_dtype
SACCADE_U16 = 3
SACCADE_BF16 = 4
SACCADE_F64 = 5

# saccade_odd_sizes
SACCADE_ODD_FLOOR = 0
SACCADE_ODD_EDGE = 1

# saccade_tile
SACCADE_TILE_PX = 16

# saccade_update_mask
SACCADE_MASK_DIFF = 0
SACCADE_MASK_PIXELS = 1
SACCADE_MASK_TILES = 2

# saccade_padding
SACCADE_PADDING_BORDER = 0
SACCADE_PADDING_ZEROS = 1
SACCADE_PADDING_WRAP = 2
SACCADE_PADDING_MIRROR = 3

# saccade_lattice_kind
SACCADE_LATTICE_NESTED = 0
SACCADE_LATTICE_GRID = 1
SACCADE_LATTICE_UNIFORM = 2


@_laid_out
class saccade_option(ctypes.Structure):  # noqa: N801
    struct_size: Size
    name: Text
    group: Text
    help: Text
    more: Text
    metavar: Text
    default_text: Text
    choices: Text
    lowest: Double
    highest: Double
    kind: Int32
    shapes_result: Int32
    instead: Text


@_laid_out
class saccade_stream_info(ctypes.Structure):  # noqa: N801
    struct_size: Size
    uri: Text
    container: Text
    codec: Text
    decoder: Text
    hwdec: Text
    hwdec_reason: Text
    pixel_format: Text
    layout: Text
    matrix: Text
    range: Text
    filters: Text
    notes: Annotated[Any, POINTER(c_char_p)]
    note_count: Size
    sar: Double
    fps: Double
    duration_ns: Int64
    frame_count: Int64
    width_px: Int32
    height_px: Int32
    coded_width_px: Int32
    coded_height_px: Int32
    stream_index: Int32
    depth_bits: Int32
    rotation_deg: Int32
    mirrored: Int32
    deinterlaced: Int32
    matrix_tagged: Int32
    range_tagged: Int32
    live: Int32


@_laid_out
class saccade_geometry(ctypes.Structure):  # noqa: N801
    struct_size: Size
    backend: Text
    backend_reason: Text
    lattice: Text
    texture: Text
    patches_bytes: Size
    m0: Double
    e0: Double
    patch_count: Int32
    patch_size: Int32
    dtype: Int32
    width_px: Int32
    height_px: Int32
    levels: Int32
    plane_count: Int32
    tile_cols: Int32
    tile_rows: Int32


@_laid_out
class saccade_emission_view(ctypes.Structure):  # noqa: N801
    struct_size: Size
    patches: Address
    patches_bytes: Size
    geometry: Address
    changed: Address
    frame: Int64
    pts_ns: Int64
    captured_unix_ns: Int64
    age_ns: Int64
    fixation_u: Float
    fixation_v: Float
    in_flight: Int32
    damaged_tiles: Int32
    gaps: Int32
    patch_count: Int32
    patch_size: Int32
    dtype: Int32
    pointer_u: Float
    pointer_v: Float


@_laid_out
class saccade_target(ctypes.Structure):  # noqa: N801
    struct_size: Size
    patches: Address
    patches_bytes: Size
    geometry: Address
    changed: Address
    damaged_tiles: Address
    cuda_stream: Address
    memory: Int32
    device: Int32
    dtype: Int32
    mean: Annotated[Any, c_float * 3]
    deviation: Annotated[Any, c_float * 3]


@_laid_out
class saccade_frame_format(ctypes.Structure):  # noqa: N801
    struct_size: Size
    pixels: Int32
    width_px: Int32
    height_px: Int32
    memory: Int32
    matrix: Text
    range: Text
    sar: Double
    fps: Double


@_laid_out
class saccade_frame(ctypes.Structure):  # noqa: N801
    struct_size: Size
    planes: Annotated[Any, c_void_p * 4]
    pitches_bytes: Annotated[Any, c_int64 * 4]
    pts_ns: Int64
    cuda_stream: Address
    memory: Int32
    device: Int32
    may_differ: Address
    may_differ_count: Size


@_laid_out
class saccade_fixation_request(ctypes.Structure):  # noqa: N801
    struct_size: Size
    fixation: Int64
    frame: Int64
    pts_ns: Int64
    u: Float
    v: Float
    first: Int32


@_laid_out
class saccade_level(ctypes.Structure):  # noqa: N801
    struct_size: Size
    size_bytes: Size
    width: Int32
    height: Int32
    image_width: Int32
    image_height: Int32
    channels: Int32
    bytes_per_channel: Int32


@_laid_out
class saccade_counters(ctypes.Structure):  # noqa: N801
    struct_size: Size
    frames: Int64
    emissions: Int64
    damaged_tiles: Int64
    tiles: Int64
    patches: Int64
    patches_changed: Int64
    bytes_uploaded: Int64
    frames_dropped: Int64
    frames_decoded: Int64
    frames_corrupt: Int64
    frames_off_device: Int64
    packets_corrupt: Int64
    packets_late: Int64
    format_changes: Int64
    gaps: Int64
    gaps_ns: Int64
    truncated: Int32
    late_ns: Int64
    packets_lost: Int64
    segments_lost: Int64


@_laid_out
class saccade_stream_end(ctypes.Structure):  # noqa: N801
    struct_size: Size
    reason: Text
    ended: Int32
    broke: Int32


@_laid_out
class saccade_memory_use(ctypes.Structure):  # noqa: N801
    struct_size: Size
    streams: Int64
    emissions: Int64
    gl_buffers: Int64
    device_bytes: Int64
    pinned_bytes: Int64
    lattices: Int64
    hardware_textures: Int64


@_laid_out
class saccade_painter_settings(ctypes.Structure):  # noqa: N801
    struct_size: Size
    width_px: Int32
    height_px: Int32
    patch_size: Int32
    picture_width_px: Int32
    memory: Int32
    sar: Double
    no_interpolation: Int32


@_laid_out
class saccade_patch_samples(ctypes.Structure):  # noqa: N801
    struct_size: Size
    patches: Address
    geometry: Address
    count: Int32
    dtype: Int32
    mean: Annotated[Any, c_float * 3]
    std: Annotated[Any, c_float * 3]


@_laid_out
class saccade_token_rule(ctypes.Structure):  # noqa: N801
    struct_size: Size
    name: Text
    source: Text
    date: Text
    unit_tokens: Double
    min_pixels: Int64
    max_pixels: Int64
    resizing: Int32
    answer: Int32
    unit_px: Int32
    base_tokens: Int32
    max_units: Int32
    max_side_px: Int32
    max_short_px: Int32
    max_aspect: Int32
    step_px: Int32
    most_images: Int32


@_laid_out
class saccade_views_settings(ctypes.Structure):  # noqa: N801
    struct_size: Size
    rule: Annotated[Any, POINTER(saccade_token_rule)]
    look_u: Float
    look_v: Float
    tokens: Int32
    has_look: Int32
    new_only: Int32


@_laid_out
class saccade_view(ctypes.Structure):  # noqa: N801
    struct_size: Size
    rgb: Address
    rgb_bytes: Size
    reason: Text
    scale: Double
    width: Int32
    height: Int32
    level: Int32
    tokens: Int32
    box_x: Int32
    box_y: Int32
    box_width: Int32
    box_height: Int32


@_laid_out
class saccade_coordinates(ctypes.Structure):  # noqa: N801
    struct_size: Size
    answer: Int32
    space: Int32
    seen_width: Int32
    seen_height: Int32


@_laid_out
class saccade_place(ctypes.Structure):  # noqa: N801
    struct_size: Size
    cuda_stream: Address
    cuda: Int32
    device: Int32
    threads: Int32
    pad0: Int32


@_laid_out
class saccade_array(ctypes.Structure):  # noqa: N801
    data: Address
    shape: Annotated[Any, c_int64 * 5]
    stride: Annotated[Any, c_int64 * 5]
    dtype: Int32
    pad0: Int32


@_laid_out
class saccade_update_options(ctypes.Structure):  # noqa: N801
    struct_size: Size
    threshold: Double
    min_samples: Int32
    odd: Int32
    mask_kind: Int32
    pad0: Int32


@_laid_out
class saccade_sample_options(ctypes.Structure):  # noqa: N801
    struct_size: Size
    scale: Float
    padding: Int32
    max_anisotropy: Int32
    rotate: Int32
    nearest: Int32
    pad0: Int32


@_laid_out
class saccade_gaussians(ctypes.Structure):  # noqa: N801
    struct_size: Size
    x: Address
    mean: Address
    scale_tril: Address
    weight: Address
    most_q: Double
    batch: Int32
    points: Int32
    gaussians: Int32
    dimensions: Int32
    channels: Int32
    dtype: Int32


@_laid_out
class saccade_lattice_settings(ctypes.Structure):  # noqa: N801
    struct_size: Size
    strides: Address
    sides: Address
    e0: Double
    m0: Double
    lod: Double
    fov_deg: Double
    sar: Double
    ring_count: Int32
    kind: Int32
    uv: Int32
    patches: Int32
    patch_size: Int32
    levels: Int32
    width_px: Int32
    height_px: Int32
    fovea: Double
    fovea_deg: Int32
    tokens: Int32


@_laid_out
class saccade_lattice_info(ctypes.Structure):  # noqa: N801
    struct_size: Size
    e0: Double
    m0: Double
    unit_per_px_x: Double
    unit_per_px_y: Double
    patch_count: Int32
    snap_px: Int32
    pattern_count: Int32
    pad0: Int32


@_laid_out
class saccade_fovea_preset(ctypes.Structure):  # noqa: N801
    struct_size: Size
    name: Text
    e0: Double
    m0: Double
    uv: Int32
    pad0: Int32


@_laid_out
class saccade_normalization(ctypes.Structure):  # noqa: N801
    struct_size: Size
    name: Text
    mean: Annotated[Any, c_double * 3]
    deviation: Annotated[Any, c_double * 3]


# Structs that go as bytes: how `struct` packs them
FORMATS = {
    "saccade_place": "@NP4i",
    "saccade_array": "@P10q2i",
    "saccade_update_options": "@Nd4i",
    "saccade_sample_options": "@Nf5i",
    "saccade_gaussians": "@N4Pd6i",
    "saccade_lattice_settings": "@N2P5d8id2i",
    "saccade_lattice_info": "@N4d4i",
}


saccade_log_function = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
saccade_fixation_function = CFUNCTYPE(c_int, c_void_p, POINTER(saccade_fixation_request), c_void_p, c_void_p)


# function: (result, arguments)
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "saccade_version": (c_int, []),
    "saccade_version_text": (c_char_p, []),
    "saccade_status_name": (c_char_p, [c_int]),
    "saccade_last_error_status": (c_int, []),
    "saccade_last_error": (c_char_p, []),
    "saccade_last_error_hint": (c_char_p, []),
    "saccade_last_error_option": (c_char_p, [c_void_p]),
    "saccade_last_error_hint_code": (c_int, []),
    "saccade_options_new": (c_void_p, []),
    "saccade_options_free": (None, [c_void_p]),
    "saccade_options_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "saccade_options_get": (c_int, [c_void_p, c_char_p, POINTER(c_char_p)]),
    "saccade_option_count": (c_size_t, []),
    "saccade_option_describe": (c_int, [c_size_t, POINTER(saccade_option)]),
    "saccade_options_set_log": (c_int, [c_void_p, c_int, saccade_log_function, c_void_p]),
    "saccade_backend_check": (c_int, [c_char_p, c_int]),
    "saccade_stream_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "saccade_stream_open": (c_int, [c_void_p, c_char_p]),
    "saccade_stream_interrupt": (c_int, [c_void_p]),
    "saccade_stream_free": (None, [c_void_p]),
    "saccade_stream_get_info": (c_int, [c_void_p, POINTER(saccade_stream_info)]),
    "saccade_stream_probe": (c_int, [c_void_p, c_char_p, POINTER(saccade_stream_info)]),
    "saccade_stream_get_geometry": (c_int, [c_void_p, POINTER(saccade_geometry)]),
    "saccade_stream_next": (c_int, [c_void_p, c_int64, POINTER(c_void_p)]),
    "saccade_emission_get": (c_int, [c_void_p, POINTER(saccade_emission_view)]),
    "saccade_emission_copy": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t]),
    "saccade_emission_release": (None, [c_void_p]),
    "saccade_stream_next_into": (c_int, [c_void_p, c_int64, POINTER(saccade_target), POINTER(saccade_emission_view)]),
    "saccade_stream_open_frames": (c_int, [c_void_p, POINTER(saccade_frame_format)]),
    "saccade_stream_push": (c_int, [c_void_p, POINTER(saccade_frame), c_void_p]),
    "saccade_stream_push_end": (c_int, [c_void_p]),
    "saccade_stream_look": (c_int, [c_void_p, c_float, c_float]),
    "saccade_stream_attend": (c_int, [c_void_p, c_void_p, c_int, c_int, c_void_p]),
    "saccade_stream_set_fixation": (c_int, [c_void_p, saccade_fixation_function, c_void_p]),
    "saccade_stream_set_scanpath": (c_int, [c_void_p, c_void_p, c_size_t]),
    "saccade_stream_get_level": (c_int, [c_void_p, c_int, c_int, POINTER(saccade_level)]),
    "saccade_stream_read_level": (c_int, [c_void_p, c_int, c_int, c_void_p, c_size_t]),
    "saccade_stream_get_counters": (c_int, [c_void_p, POINTER(saccade_counters)]),
    "saccade_stream_get_end": (c_int, [c_void_p, POINTER(saccade_stream_end)]),
    "saccade_get_memory_use": (c_int, [POINTER(saccade_memory_use)]),
    "saccade_gl_buffer_new": (c_int, [c_uint, c_int, POINTER(c_void_p)]),
    "saccade_gl_buffer_write": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_int]),
    "saccade_gl_buffer_size": (c_int, [c_void_p, c_void_p]),
    "saccade_gl_buffer_free": (None, [c_void_p]),
    "saccade_painter_new": (c_int, [POINTER(saccade_painter_settings), POINTER(c_void_p)]),
    "saccade_painter_free": (None, [c_void_p]),
    "saccade_painter_forget": (None, [c_void_p]),
    "saccade_painter_get_size": (c_int, [c_void_p, c_void_p, c_void_p]),
    "saccade_painter_paint": (c_int, [c_void_p, POINTER(saccade_patch_samples), c_void_p, c_size_t]),
    "saccade_draw_fixation": (c_int, [c_void_p, c_int32, c_int32, c_float, c_float, c_int32]),
    "saccade_stream_forget": (c_int, [c_void_p, c_void_p]),
    "saccade_token_rule_describe": (c_int, [c_size_t, POINTER(saccade_token_rule)]),
    "saccade_token_rule_count": (c_int, [POINTER(saccade_token_rule), c_int32, c_int32, c_void_p, c_void_p, c_void_p]),
    "saccade_token_rule_fit": (c_int, [POINTER(saccade_token_rule), c_int32, c_int32, c_int32, c_void_p, c_void_p]),
    "saccade_stream_views": (c_int, [c_void_p, POINTER(saccade_views_settings), POINTER(c_void_p)]),
    "saccade_views_free": (None, [c_void_p]),
    "saccade_views_count": (c_int, [c_void_p, c_void_p]),
    "saccade_views_get": (c_int, [c_void_p, c_size_t, POINTER(saccade_view)]),
    "saccade_views_to_frame": (
        c_int,
        [
            c_void_p,
            c_size_t,
            POINTER(saccade_coordinates),
            c_double,
            c_double,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_views_from_frame": (
        c_int,
        [
            c_void_p,
            c_size_t,
            POINTER(saccade_coordinates),
            c_double,
            c_double,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_views_find": (c_int, [c_void_p, POINTER(saccade_coordinates), c_double, c_double, c_void_p]),
    "saccade_reduce": (c_int, [c_void_p, c_void_p, c_int32, c_int32, c_void_p, c_size_t]),
    "saccade_reduce_workspace_bytes": (c_size_t, [c_void_p, c_int32]),
    "saccade_reduce_backward": (c_int, [c_void_p, c_void_p, c_void_p, c_int32, c_int32, c_void_p]),
    "saccade_update": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_int32,
            c_void_p,
            c_size_t,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_sample": (c_int, [c_void_p, c_void_p, c_int32, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "saccade_sample_backward": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_int32,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_int32,
            c_int32,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_sample_image_backward": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_int32,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_int32,
            c_void_p,
            c_void_p,
            c_size_t,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_gradient_unit": (c_int, [c_void_p, c_void_p, c_void_p]),
    "saccade_hardware_texture_new": (c_int, [c_void_p, c_void_p, c_int32, POINTER(c_void_p)]),
    "saccade_hardware_texture_free": (None, [c_void_p]),
    "saccade_hardware_texture_fill": (c_int, [c_void_p, c_void_p, c_void_p, c_int32]),
    "saccade_hardware_texture_sample": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            c_int32,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_gaussian_workspace_bytes": (c_size_t, [c_void_p, c_void_p]),
    "saccade_gaussian_field": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "saccade_gaussian_field_backward": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
            c_void_p,
        ],
    ),
    "saccade_mahalanobis": (c_int, [c_void_p, c_void_p, c_void_p]),
    "saccade_lattice_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "saccade_lattice_free": (None, [c_void_p]),
    "saccade_lattice_get_info": (c_int, [c_void_p, c_void_p]),
    "saccade_lattice_get_pattern": (c_int, [c_void_p, c_void_p]),
    "saccade_lattice_plan": (c_int, [c_void_p, c_void_p, c_size_t, c_int32, c_void_p]),
    "saccade_lattice_plan_at": (
        c_int,
        [
            c_void_p,
            c_int32,
            c_void_p,
            c_int32,
            c_void_p,
            c_int32,
            c_int32,
            c_int32,
            c_int32,
            c_void_p,
        ],
    ),
    "saccade_fovea_preset_describe": (c_int, [c_size_t, POINTER(saccade_fovea_preset)]),
    "saccade_normalization_describe": (c_int, [c_size_t, POINTER(saccade_normalization)]),
}


def declare(library: ctypes.CDLL) -> None:
    """Give the library's functions their types. One that an older library lacks is left out."""
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is not None:
            function.restype = result
            function.argtypes = arguments
