"""Facts of a stream, as plain values: they outlive it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from pysaccade._native import _abi, _calls


@dataclass(frozen=True, kw_only=True)
class StreamInfo:
    """What a source is and what is done to it. The names are those of `saccade info --json`."""

    uri: str
    """As it may be shown: users, passwords and tokens of a URL are "***". "frames" for frames of the caller's."""
    container: str
    """FFmpeg's short names, or "test"."""
    codec: str
    decoder: str
    """The one in use: "h264", "libdav1d"."""
    hwdec: str
    """What decodes: "no" or "cuda"."""
    hwdec_reason: str
    """Why it is not the GPU, where that was asked for; else empty."""
    pixel_format: str
    """Of the decoder, before any conversion: "yuv420p10le"."""
    layout: str
    """As frames come: "i420", "nv12", "i420p16", "p016", "rgba8"."""
    matrix: str
    range: str
    filters: str
    """The FFmpeg graph that converts; empty: frames pass straight through."""
    notes: tuple[str, ...]
    """What is done to the picture, a sentence each."""
    sar: float
    """The width of a pixel over its height."""
    fps: float
    """Frames a second on average; 0: unknown."""
    duration_ns: int | None
    """None: unknown, as of live streams."""
    frame_count: int | None
    """As the container promises; None: unknown."""
    width_px: int
    height_px: int
    """As displayed: after rotation, filters and conversion."""
    coded_width_px: int
    coded_height_px: int
    stream_index: int
    depth_bits: int
    rotation_deg: int
    mirrored: bool
    deinterlaced: bool
    matrix_tagged: bool
    range_tagged: bool
    """False: the stream didn't say, and a default rule did."""
    live: bool
    """A camera or a network stream: frames come by the clock."""

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the frame as displayed, in pixels."""
        return self.height_px, self.width_px

    @property
    def duration_seconds(self) -> float | None:
        """The container's promise; None: unknown."""
        return None if self.duration_ns is None else self.duration_ns / 1e9


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Shapes of a stream's emissions and of its texture; fixed while a source is open."""

    backend: str
    """Where the texture lives: "cpu", "gl" or "cuda"."""
    backend_reason: str
    """Why "auto" chose it; else empty."""
    lattice: str
    """One line for people."""
    texture: str
    """"yuv8", "yuv16" or "rgba8"."""
    m0: float
    e0: float
    """lod(e) = clamp(log2((e + e0) / m0), 0, levels - 1), in degrees, as solved."""
    patch_count: int
    """N."""
    patch_size: int
    """S: samples along a patch's side."""
    width_px: int
    height_px: int
    levels: int
    """Of plane 0."""
    plane_count: int
    """2: luma and chroma, which has a level less; 1: RGBA."""
    tile_cols: int
    tile_rows: int
    """Damage is found by tiles of 16 x 16 pixels."""


@dataclass(frozen=True, kw_only=True)
class Counters:
    """Totals since the source was opened. The source's own, from `frames_decoded` on, are 0 until the end."""

    frames: int
    emissions: int
    damaged_tiles: int
    tiles: int
    patches: int
    patches_changed: int
    bytes_uploaded: int
    frames_dropped: int
    """By the queue of a live stream: a newer one was there."""
    frames_decoded: int
    frames_corrupt: int
    """Delivered, but flagged as damaged."""
    frames_off_device: int
    """Decoded on the CPU after the GPU had decoded the first one."""
    packets_corrupt: int
    packets_late: int
    format_changes: int
    gaps: int
    gaps_ns: int
    truncated: bool
    """The container ended before its promise."""
    late_ns: int
    """What `packets_late` would have lasted."""
    packets_lost: int
    """On the way: gaps in what the sender numbered."""
    segments_lost: int
    """Of HLS and DASH: that could not be fetched."""


_FLAGS = {"mirrored", "deinterlaced", "matrix_tagged", "range_tagged", "live", "truncated"}
_UNKNOWN = {"duration_ns", "frame_count"}  # -1: unknown
_LEFT_OUT = {"struct_size", "note_count", "patches_bytes", "dtype"}


def plain(struct: ctypes.Structure) -> dict[str, Any]:
    """The fields of a struct as Python's values, under the same names."""
    values: dict[str, Any] = {}
    for name, *_ in struct._fields_:
        value = getattr(struct, name)
        if name in _LEFT_OUT:
            continue
        if name == "notes":
            count = struct.note_count
            values[name] = tuple(_calls.text(value[index]) for index in range(count))
        elif value is None or isinstance(value, bytes):
            values[name] = _calls.text(value)
        elif name in _UNKNOWN:
            values[name] = None if value < 0 else value
        else:
            values[name] = bool(value) if name in _FLAGS else value
    return values


def _known(kind: Any, values: dict[str, Any]) -> Any:
    """A newer library's fields that this package doesn't know are left out."""
    return kind(**{name: values[name] for name in kind.__dataclass_fields__})


def stream_info(struct: _abi.saccade_stream_info) -> StreamInfo:
    """From the library's struct."""
    made: StreamInfo = _known(StreamInfo, plain(struct))
    return made


def geometry(struct: _abi.saccade_geometry) -> Geometry:
    """From the library's struct."""
    made: Geometry = _known(Geometry, plain(struct))
    return made


def counters(struct: _abi.saccade_counters) -> Counters:
    """From the library's struct."""
    made: Counters = _known(Counters, plain(struct))
    return made
