"""The library's lattices (include/saccade/tensor.h), and their facts as numbers of Python."""

from __future__ import annotations

import ctypes
import weakref
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native import _abi, _calls
from pysaccade.lattice.acuity import presets

WHO = "Lattice: "
Fovea = tuple[float, str]  # a width and its unit, "px" or "deg"
Key = tuple[Any, ...]  # the arguments of _settings()
KINDS = ("nested", "grid", "uniform")  # saccade_lattice_kind


class NativeLattice:
    """The library's lattice for one size of image."""

    def __init__(self, settings: _abi.saccade_lattice_settings) -> None:
        library = _calls.library()
        handle = ctypes.c_void_p()
        _calls.check(library.saccade_lattice_new(ctypes.byref(settings), ctypes.byref(handle)), WHO)
        self.handle = handle
        weakref.finalize(self, library.saccade_lattice_free, handle)
        self.info = _calls.new(_abi.saccade_lattice_info)
        _calls.check(library.saccade_lattice_get_info(handle, ctypes.byref(self.info)))
        self.count = int(self.info.patch_count)

    def plan(self, fixations: np.ndarray[Any, Any], in_pixels: bool = False) -> np.ndarray[Any, Any]:
        """Geometry [K, N, 4] f32 of fixations [K, 2] f32: x, y, lod, coverage."""
        fixations = np.ascontiguousarray(fixations, np.float32)
        geometry = np.empty((len(fixations), self.count, 4), np.float32)
        if len(fixations):
            at, out = fixations.ctypes.data, geometry.ctypes.data
            library = _calls.library()
            _calls.check(library.saccade_lattice_plan(self.handle, at, len(fixations), int(in_pixels), out))
        return geometry

    def pattern(self) -> np.ndarray[Any, Any]:
        """[pattern_count, 3] f32: x and y in pixels from a plan's centre, and lod."""
        found = np.empty((self.info.pattern_count, 3), np.float32)
        _calls.check(_calls.library().saccade_lattice_get_pattern(self.handle, found.ctypes.data))
        return found


class Facts(NamedTuple):
    """A lattice as numbers of Python: what plans by torch are made of, also inside torch.compile."""

    e0: float
    m0: float
    unit_per_px: tuple[float, float]
    patches: int
    snap_px: int
    at_px: list[list[float]]  # nested: [M, 2] offsets from the snapped fixation, of which a plan has N; else centres
    lod: list[float]  # likewise, where it is constant


def _settings(
    kind: str,
    tokens: int | None,
    fovea: Fovea | None,
    patches: int | None,
    patch_size: int,
    size: tuple[int, int] | None,
    levels: int,
    e0: float | None,
    m0: float | None,
    unit: str,
    fov_deg: float,
    sar: float,
    rings: tuple[tuple[int, int], ...] | None,
) -> _abi.saccade_lattice_settings:
    """The library's settings; the rings' arrays live as long as they."""
    settings = _calls.new(_abi.saccade_lattice_settings)
    settings.kind, settings.patch_size, settings.levels = KINDS.index(kind), patch_size, levels
    settings.tokens, settings.patches = tokens or 0, patches or 0
    settings.fovea, settings.fovea_deg = (0.0, 0) if fovea is None else (fovea[0], int(fovea[1] == "deg"))
    settings.e0, settings.m0, settings.uv, settings.lod = e0 or 0.0, m0 or 0.0, int(unit == "uv"), -1.0
    settings.fov_deg, settings.sar = fov_deg, sar
    settings.height_px, settings.width_px = size or (0, 0)
    given = rings or ()
    arrays = [(ctypes.c_int32 * len(given))(*(ring[k] for ring in given)) for k in (0, 1)]
    settings.strides, settings.sides = map(ctypes.addressof, arrays)
    settings.ring_count = len(given)
    settings._arrays = arrays
    return settings


@lru_cache(maxsize=256)
def native_of(*key: Any) -> NativeLattice:
    """The library's lattice of the arguments of _settings(); solved once."""
    return NativeLattice(_settings(*key))


def judge(key: Key) -> None:
    """Raise ValueError for settings that don't go together, whatever the size: the library's rules."""
    _judged(*key)


@lru_cache(maxsize=256)
def _judged(*key: Any) -> None:
    handle = ctypes.c_void_p()
    settings = _settings(*key)
    _calls.check(_calls.library().saccade_lattice_new(ctypes.byref(settings), ctypes.byref(handle)), WHO)


def facts_of(key: Key) -> Facts:
    """What the library found, and in f64 what it was given, which it keeps in f32."""
    native = native_of(*key)
    kind, _, _, _, _, (height, width), _, e0, m0, unit, fov_deg, sar, _ = key
    if native.info.pattern_count:
        pattern = native.pattern()
    else:
        pattern = native.plan(np.zeros((1, 2), np.float32), in_pixels=True)[0]
    info = native.info
    solves = e0 is None and m0 is None and kind != "grid"
    e0 = float(info.e0) if solves else e0 or presets()["geisler-perry"][0]
    m0 = float(info.m0) if solves else m0 or e0
    per_px = (1 / width, 1 / height) if unit == "uv" else (fov_deg / width, fov_deg / (width * sar))
    at, lod = pattern[:, :2].tolist(), pattern[:, 2].tolist()
    return Facts(e0, m0, per_px, native.count, int(info.snap_px), at, lod)


# torch.compile calls them while it traces, and takes the result for a constant: torch.compiler.assume_constant_result.
judge._dynamo_marked_constant = True  # type: ignore[attr-defined]
facts_of._dynamo_marked_constant = True  # type: ignore[attr-defined]
