"""libsaccade's C interface for ctypes. Written by python/tools/make_abi.py from the headers: don't edit.

Handles (`saccade_stream*` and the like) are addresses. Pointers to samples are addresses too.
"""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

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

# saccade_lattice_kind
SACCADE_LATTICE_NESTED = 0
SACCADE_LATTICE_GRID = 1
SACCADE_LATTICE_UNIFORM = 2


class saccade_option(ctypes.Structure):  # noqa: N801
    struct_size: int
    name: bytes | None
    group: bytes | None
    help: bytes | None
    more: bytes | None
    metavar: bytes | None
    default_text: bytes | None
    choices: bytes | None
    lowest: float
    highest: float
    kind: int
    shapes_result: int
    instead: bytes | None
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("group", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("more", ctypes.c_char_p),
        ("metavar", ctypes.c_char_p),
        ("default_text", ctypes.c_char_p),
        ("choices", ctypes.c_char_p),
        ("lowest", ctypes.c_double),
        ("highest", ctypes.c_double),
        ("kind", ctypes.c_int32),
        ("shapes_result", ctypes.c_int32),
        ("instead", ctypes.c_char_p),
    ]


class saccade_stream_info(ctypes.Structure):  # noqa: N801
    struct_size: int
    uri: bytes | None
    container: bytes | None
    codec: bytes | None
    decoder: bytes | None
    hwdec: bytes | None
    hwdec_reason: bytes | None
    pixel_format: bytes | None
    layout: bytes | None
    matrix: bytes | None
    range: bytes | None
    filters: bytes | None
    notes: Any
    note_count: int
    sar: float
    fps: float
    duration_ns: int
    frame_count: int
    width_px: int
    height_px: int
    coded_width_px: int
    coded_height_px: int
    stream_index: int
    depth_bits: int
    rotation_deg: int
    mirrored: int
    deinterlaced: int
    matrix_tagged: int
    range_tagged: int
    live: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("uri", ctypes.c_char_p),
        ("container", ctypes.c_char_p),
        ("codec", ctypes.c_char_p),
        ("decoder", ctypes.c_char_p),
        ("hwdec", ctypes.c_char_p),
        ("hwdec_reason", ctypes.c_char_p),
        ("pixel_format", ctypes.c_char_p),
        ("layout", ctypes.c_char_p),
        ("matrix", ctypes.c_char_p),
        ("range", ctypes.c_char_p),
        ("filters", ctypes.c_char_p),
        ("notes", ctypes.POINTER(ctypes.c_char_p)),
        ("note_count", ctypes.c_size_t),
        ("sar", ctypes.c_double),
        ("fps", ctypes.c_double),
        ("duration_ns", ctypes.c_int64),
        ("frame_count", ctypes.c_int64),
        ("width_px", ctypes.c_int32),
        ("height_px", ctypes.c_int32),
        ("coded_width_px", ctypes.c_int32),
        ("coded_height_px", ctypes.c_int32),
        ("stream_index", ctypes.c_int32),
        ("depth_bits", ctypes.c_int32),
        ("rotation_deg", ctypes.c_int32),
        ("mirrored", ctypes.c_int32),
        ("deinterlaced", ctypes.c_int32),
        ("matrix_tagged", ctypes.c_int32),
        ("range_tagged", ctypes.c_int32),
        ("live", ctypes.c_int32),
    ]


class saccade_geometry(ctypes.Structure):  # noqa: N801
    struct_size: int
    backend: bytes | None
    backend_reason: bytes | None
    lattice: bytes | None
    texture: bytes | None
    patches_bytes: int
    m0: float
    e0: float
    patch_count: int
    patch_size: int
    dtype: int
    width_px: int
    height_px: int
    levels: int
    plane_count: int
    tile_cols: int
    tile_rows: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("backend", ctypes.c_char_p),
        ("backend_reason", ctypes.c_char_p),
        ("lattice", ctypes.c_char_p),
        ("texture", ctypes.c_char_p),
        ("patches_bytes", ctypes.c_size_t),
        ("m0", ctypes.c_double),
        ("e0", ctypes.c_double),
        ("patch_count", ctypes.c_int32),
        ("patch_size", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("width_px", ctypes.c_int32),
        ("height_px", ctypes.c_int32),
        ("levels", ctypes.c_int32),
        ("plane_count", ctypes.c_int32),
        ("tile_cols", ctypes.c_int32),
        ("tile_rows", ctypes.c_int32),
    ]


class saccade_emission_view(ctypes.Structure):  # noqa: N801
    struct_size: int
    patches: int | None
    patches_bytes: int
    geometry: int | None
    changed: int | None
    frame: int
    pts_ns: int
    captured_unix_ns: int
    age_ns: int
    fixation_u: float
    fixation_v: float
    in_flight: int
    damaged_tiles: int
    gaps: int
    patch_count: int
    patch_size: int
    dtype: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("patches", ctypes.c_void_p),
        ("patches_bytes", ctypes.c_size_t),
        ("geometry", ctypes.c_void_p),
        ("changed", ctypes.c_void_p),
        ("frame", ctypes.c_int64),
        ("pts_ns", ctypes.c_int64),
        ("captured_unix_ns", ctypes.c_int64),
        ("age_ns", ctypes.c_int64),
        ("fixation_u", ctypes.c_float),
        ("fixation_v", ctypes.c_float),
        ("in_flight", ctypes.c_int32),
        ("damaged_tiles", ctypes.c_int32),
        ("gaps", ctypes.c_int32),
        ("patch_count", ctypes.c_int32),
        ("patch_size", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


class saccade_target(ctypes.Structure):  # noqa: N801
    struct_size: int
    patches: int | None
    patches_bytes: int
    geometry: int | None
    changed: int | None
    damaged_tiles: int | None
    cuda_stream: int | None
    memory: int
    device: int
    dtype: int
    mean: Any
    deviation: Any
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("patches", ctypes.c_void_p),
        ("patches_bytes", ctypes.c_size_t),
        ("geometry", ctypes.c_void_p),
        ("changed", ctypes.c_void_p),
        ("damaged_tiles", ctypes.c_void_p),
        ("cuda_stream", ctypes.c_void_p),
        ("memory", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("mean", ctypes.c_float * 3),
        ("deviation", ctypes.c_float * 3),
    ]


class saccade_frame_format(ctypes.Structure):  # noqa: N801
    struct_size: int
    pixels: int
    width_px: int
    height_px: int
    memory: int
    matrix: bytes | None
    range: bytes | None
    sar: float
    fps: float
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("pixels", ctypes.c_int32),
        ("width_px", ctypes.c_int32),
        ("height_px", ctypes.c_int32),
        ("memory", ctypes.c_int32),
        ("matrix", ctypes.c_char_p),
        ("range", ctypes.c_char_p),
        ("sar", ctypes.c_double),
        ("fps", ctypes.c_double),
    ]


class saccade_frame(ctypes.Structure):  # noqa: N801
    struct_size: int
    planes: Any
    pitches_bytes: Any
    pts_ns: int
    cuda_stream: int | None
    memory: int
    device: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("planes", ctypes.c_void_p * 4),
        ("pitches_bytes", ctypes.c_int64 * 4),
        ("pts_ns", ctypes.c_int64),
        ("cuda_stream", ctypes.c_void_p),
        ("memory", ctypes.c_int32),
        ("device", ctypes.c_int32),
    ]


class saccade_fixation_request(ctypes.Structure):  # noqa: N801
    struct_size: int
    fixation: int
    frame: int
    pts_ns: int
    u: float
    v: float
    first: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("fixation", ctypes.c_int64),
        ("frame", ctypes.c_int64),
        ("pts_ns", ctypes.c_int64),
        ("u", ctypes.c_float),
        ("v", ctypes.c_float),
        ("first", ctypes.c_int32),
    ]


class saccade_level(ctypes.Structure):  # noqa: N801
    struct_size: int
    size_bytes: int
    width: int
    height: int
    image_width: int
    image_height: int
    channels: int
    bytes_per_channel: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("size_bytes", ctypes.c_size_t),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("image_width", ctypes.c_int32),
        ("image_height", ctypes.c_int32),
        ("channels", ctypes.c_int32),
        ("bytes_per_channel", ctypes.c_int32),
    ]


class saccade_counters(ctypes.Structure):  # noqa: N801
    struct_size: int
    frames: int
    emissions: int
    damaged_tiles: int
    tiles: int
    patches: int
    patches_changed: int
    bytes_uploaded: int
    frames_dropped: int
    frames_decoded: int
    frames_corrupt: int
    frames_off_device: int
    packets_corrupt: int
    packets_late: int
    format_changes: int
    gaps: int
    gaps_ns: int
    truncated: int
    late_ns: int
    packets_lost: int
    segments_lost: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("frames", ctypes.c_int64),
        ("emissions", ctypes.c_int64),
        ("damaged_tiles", ctypes.c_int64),
        ("tiles", ctypes.c_int64),
        ("patches", ctypes.c_int64),
        ("patches_changed", ctypes.c_int64),
        ("bytes_uploaded", ctypes.c_int64),
        ("frames_dropped", ctypes.c_int64),
        ("frames_decoded", ctypes.c_int64),
        ("frames_corrupt", ctypes.c_int64),
        ("frames_off_device", ctypes.c_int64),
        ("packets_corrupt", ctypes.c_int64),
        ("packets_late", ctypes.c_int64),
        ("format_changes", ctypes.c_int64),
        ("gaps", ctypes.c_int64),
        ("gaps_ns", ctypes.c_int64),
        ("truncated", ctypes.c_int32),
        ("late_ns", ctypes.c_int64),
        ("packets_lost", ctypes.c_int64),
        ("segments_lost", ctypes.c_int64),
    ]


class saccade_stream_end(ctypes.Structure):  # noqa: N801
    struct_size: int
    reason: bytes | None
    ended: int
    broke: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("reason", ctypes.c_char_p),
        ("ended", ctypes.c_int32),
        ("broke", ctypes.c_int32),
    ]


class saccade_memory_use(ctypes.Structure):  # noqa: N801
    struct_size: int
    streams: int
    emissions: int
    gl_buffers: int
    device_bytes: int
    pinned_bytes: int
    lattices: int
    hardware_textures: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("streams", ctypes.c_int64),
        ("emissions", ctypes.c_int64),
        ("gl_buffers", ctypes.c_int64),
        ("device_bytes", ctypes.c_int64),
        ("pinned_bytes", ctypes.c_int64),
        ("lattices", ctypes.c_int64),
        ("hardware_textures", ctypes.c_int64),
    ]


class saccade_painter_settings(ctypes.Structure):  # noqa: N801
    struct_size: int
    width_px: int
    height_px: int
    patch_size: int
    picture_width_px: int
    memory: int
    sar: float
    no_interpolation: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("width_px", ctypes.c_int32),
        ("height_px", ctypes.c_int32),
        ("patch_size", ctypes.c_int32),
        ("picture_width_px", ctypes.c_int32),
        ("memory", ctypes.c_int32),
        ("sar", ctypes.c_double),
        ("no_interpolation", ctypes.c_int32),
    ]


class saccade_patch_samples(ctypes.Structure):  # noqa: N801
    struct_size: int
    patches: int | None
    geometry: int | None
    count: int
    dtype: int
    mean: Any
    std: Any
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("patches", ctypes.c_void_p),
        ("geometry", ctypes.c_void_p),
        ("count", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("mean", ctypes.c_float * 3),
        ("std", ctypes.c_float * 3),
    ]


class saccade_place(ctypes.Structure):  # noqa: N801
    struct_size: int
    cuda_stream: int | None
    cuda: int
    device: int
    threads: int
    pad0: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("cuda_stream", ctypes.c_void_p),
        ("cuda", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("pad0", ctypes.c_int32),
    ]


class saccade_array(ctypes.Structure):  # noqa: N801
    data: int | None
    shape: Any
    stride: Any
    dtype: int
    pad0: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_int64 * 5),
        ("stride", ctypes.c_int64 * 5),
        ("dtype", ctypes.c_int32),
        ("pad0", ctypes.c_int32),
    ]


class saccade_update_options(ctypes.Structure):  # noqa: N801
    struct_size: int
    threshold: float
    min_samples: int
    odd: int
    mask_kind: int
    pad0: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("threshold", ctypes.c_double),
        ("min_samples", ctypes.c_int32),
        ("odd", ctypes.c_int32),
        ("mask_kind", ctypes.c_int32),
        ("pad0", ctypes.c_int32),
    ]


class saccade_sample_options(ctypes.Structure):  # noqa: N801
    struct_size: int
    scale: float
    zeros: int
    max_anisotropy: int
    rotate: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("scale", ctypes.c_float),
        ("zeros", ctypes.c_int32),
        ("max_anisotropy", ctypes.c_int32),
        ("rotate", ctypes.c_int32),
    ]


class saccade_gaussians(ctypes.Structure):  # noqa: N801
    struct_size: int
    x: int | None
    mean: int | None
    scale_tril: int | None
    weight: int | None
    most_q: float
    batch: int
    points: int
    gaussians: int
    dimensions: int
    channels: int
    dtype: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("x", ctypes.c_void_p),
        ("mean", ctypes.c_void_p),
        ("scale_tril", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("most_q", ctypes.c_double),
        ("batch", ctypes.c_int32),
        ("points", ctypes.c_int32),
        ("gaussians", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("channels", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


class saccade_lattice_settings(ctypes.Structure):  # noqa: N801
    struct_size: int
    strides: int | None
    sides: int | None
    e0: float
    m0: float
    lod: float
    fov_deg: float
    sar: float
    ring_count: int
    kind: int
    uv: int
    patches: int
    patch_size: int
    levels: int
    width_px: int
    height_px: int
    fovea: float
    fovea_deg: int
    tokens: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("strides", ctypes.c_void_p),
        ("sides", ctypes.c_void_p),
        ("e0", ctypes.c_double),
        ("m0", ctypes.c_double),
        ("lod", ctypes.c_double),
        ("fov_deg", ctypes.c_double),
        ("sar", ctypes.c_double),
        ("ring_count", ctypes.c_int32),
        ("kind", ctypes.c_int32),
        ("uv", ctypes.c_int32),
        ("patches", ctypes.c_int32),
        ("patch_size", ctypes.c_int32),
        ("levels", ctypes.c_int32),
        ("width_px", ctypes.c_int32),
        ("height_px", ctypes.c_int32),
        ("fovea", ctypes.c_double),
        ("fovea_deg", ctypes.c_int32),
        ("tokens", ctypes.c_int32),
    ]


class saccade_lattice_info(ctypes.Structure):  # noqa: N801
    struct_size: int
    e0: float
    m0: float
    unit_per_px_x: float
    unit_per_px_y: float
    patch_count: int
    snap_px: int
    pattern_count: int
    pad0: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("e0", ctypes.c_double),
        ("m0", ctypes.c_double),
        ("unit_per_px_x", ctypes.c_double),
        ("unit_per_px_y", ctypes.c_double),
        ("patch_count", ctypes.c_int32),
        ("snap_px", ctypes.c_int32),
        ("pattern_count", ctypes.c_int32),
        ("pad0", ctypes.c_int32),
    ]


class saccade_fovea_preset(ctypes.Structure):  # noqa: N801
    struct_size: int
    name: bytes | None
    e0: float
    m0: float
    uv: int
    pad0: int
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("e0", ctypes.c_double),
        ("m0", ctypes.c_double),
        ("uv", ctypes.c_int32),
        ("pad0", ctypes.c_int32),
    ]


class saccade_normalization(ctypes.Structure):  # noqa: N801
    struct_size: int
    name: bytes | None
    mean: Any
    deviation: Any
    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("mean", ctypes.c_double * 3),
        ("deviation", ctypes.c_double * 3),
    ]


# Structs that go as bytes: how `struct` packs them
FORMATS = {
    "saccade_place": "@NP4i",
    "saccade_array": "@P10q2i",
    "saccade_update_options": "@Nd4i",
    "saccade_sample_options": "@Nf3i",
    "saccade_gaussians": "@N4Pd6i",
    "saccade_lattice_settings": "@N2P5d8id2i",
    "saccade_lattice_info": "@N4d4i",
}


saccade_log_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
saccade_fixation_function = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(saccade_fixation_request),
    ctypes.c_void_p,
    ctypes.c_void_p,
)


# function: (result, arguments)
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "saccade_version": (ctypes.c_int, []),
    "saccade_version_text": (ctypes.c_char_p, []),
    "saccade_status_name": (ctypes.c_char_p, [ctypes.c_int]),
    "saccade_last_error_status": (ctypes.c_int, []),
    "saccade_last_error": (ctypes.c_char_p, []),
    "saccade_last_error_hint": (ctypes.c_char_p, []),
    "saccade_last_error_option": (ctypes.c_char_p, [ctypes.c_void_p]),
    "saccade_last_error_hint_code": (ctypes.c_int, []),
    "saccade_options_new": (ctypes.c_void_p, []),
    "saccade_options_free": (None, [ctypes.c_void_p]),
    "saccade_options_set": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    "saccade_options_get": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]),
    "saccade_option_count": (ctypes.c_size_t, []),
    "saccade_option_describe": (ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(saccade_option)]),
    "saccade_options_set_log": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, saccade_log_function, ctypes.c_void_p]),
    "saccade_backend_check": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_int]),
    "saccade_stream_new": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]),
    "saccade_stream_open": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "saccade_stream_interrupt": (ctypes.c_int, [ctypes.c_void_p]),
    "saccade_stream_free": (None, [ctypes.c_void_p]),
    "saccade_stream_get_info": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_stream_info)]),
    "saccade_stream_probe": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(saccade_stream_info)]),
    "saccade_stream_get_geometry": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_geometry)]),
    "saccade_stream_next": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p)]),
    "saccade_emission_get": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_emission_view)]),
    "saccade_emission_copy": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ],
    ),
    "saccade_emission_release": (None, [ctypes.c_void_p]),
    "saccade_stream_next_into": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(saccade_target),
            ctypes.POINTER(saccade_emission_view),
        ],
    ),
    "saccade_stream_open_frames": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_frame_format)]),
    "saccade_stream_push": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_frame), ctypes.c_void_p]),
    "saccade_stream_push_end": (ctypes.c_int, [ctypes.c_void_p]),
    "saccade_stream_look": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_float, ctypes.c_float]),
    "saccade_stream_attend": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_void_p,
        ],
    ),
    "saccade_stream_set_fixation": (ctypes.c_int, [ctypes.c_void_p, saccade_fixation_function, ctypes.c_void_p]),
    "saccade_stream_set_scanpath": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]),
    "saccade_stream_get_level": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.POINTER(saccade_level),
        ],
    ),
    "saccade_stream_read_level": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ],
    ),
    "saccade_stream_get_counters": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_counters)]),
    "saccade_stream_get_end": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(saccade_stream_end)]),
    "saccade_get_memory_use": (ctypes.c_int, [ctypes.POINTER(saccade_memory_use)]),
    "saccade_gl_buffer_new": (ctypes.c_int, [ctypes.c_uint, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]),
    "saccade_gl_buffer_write": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_int,
        ],
    ),
    "saccade_gl_buffer_size": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_gl_buffer_free": (None, [ctypes.c_void_p]),
    "saccade_painter_new": (ctypes.c_int, [ctypes.POINTER(saccade_painter_settings), ctypes.POINTER(ctypes.c_void_p)]),
    "saccade_painter_free": (None, [ctypes.c_void_p]),
    "saccade_painter_forget": (None, [ctypes.c_void_p]),
    "saccade_painter_get_size": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_painter_paint": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.POINTER(saccade_patch_samples),
            ctypes.c_void_p,
            ctypes.c_size_t,
        ],
    ),
    "saccade_draw_fixation": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_float,
            ctypes.c_float,
            ctypes.c_int32,
        ],
    ),
    "saccade_stream_forget": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_reduce": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ],
    ),
    "saccade_reduce_workspace_bytes": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_int32]),
    "saccade_reduce_backward": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_void_p,
        ],
    ),
    "saccade_update": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_sample": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_sample_backward": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_sample_image_backward": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_gradient_unit": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_hardware_texture_new": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "saccade_hardware_texture_free": (None, [ctypes.c_void_p]),
    "saccade_hardware_texture_fill": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
        ],
    ),
    "saccade_hardware_texture_sample": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_gaussian_workspace_bytes": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_gaussian_field": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_gaussian_field_backward": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "saccade_mahalanobis": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_lattice_new": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]),
    "saccade_lattice_free": (None, [ctypes.c_void_p]),
    "saccade_lattice_get_info": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_lattice_get_pattern": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "saccade_lattice_plan": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.c_void_p,
        ],
    ),
    "saccade_lattice_plan_at": (
        ctypes.c_int,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_void_p,
        ],
    ),
    "saccade_fovea_preset_describe": (ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(saccade_fovea_preset)]),
    "saccade_normalization_describe": (ctypes.c_int, [ctypes.c_size_t, ctypes.POINTER(saccade_normalization)]),
}


def declare(library: ctypes.CDLL) -> None:
    """Give the library's functions their types. One that an older library lacks is left out."""
    for name, (result, arguments) in PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is not None:
            function.restype = result
            function.argtypes = arguments
