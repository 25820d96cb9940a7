"""The library's lattices (include/saccade/tensor.h), and their facts as numbers of Python."""

from __future__ import annotations

import ctypes
import weakref
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native import _abi, _calls
from pysaccade._operators import _tensor_abi
from pysaccade.lattice.acuity import PRESETS

KINDS = ("nested", "grid", "uniform")  # saccade_lattice_kind


def _check(status: int) -> None:
    if status == 0:
        return
    library = _tensor_abi._open()
    if status == _abi.SACCADE_ERROR_USAGE:
        text = library.saccade_last_error().decode()
        raise ValueError(f"Lattice: {text.removeprefix('saccade_lattice_new: ').replace('patch-size', 'patch_size')}")
    _tensor_abi._fail(library, status)


class NativeLattice:
    """The library's lattice for one size of image."""

    def __init__(self, settings: _abi.saccade_lattice_settings) -> None:
        library = _tensor_abi._open()
        handle = ctypes.c_void_p()
        _check(library.saccade_lattice_new(ctypes.byref(settings), ctypes.byref(handle)))
        self.handle = handle
        weakref.finalize(self, library.saccade_lattice_free, handle)
        self.info = _calls.new(_abi.saccade_lattice_info)
        _check(library.saccade_lattice_get_info(handle, ctypes.byref(self.info)))
        self.count = int(self.info.patch_count)

    def plan(self, fixations: np.ndarray[Any, Any], in_pixels: bool = False) -> np.ndarray[Any, Any]:
        """Geometry [K, N, 4] f32 of fixations [K, 2] f32: x, y, lod, coverage."""
        fixations = np.ascontiguousarray(fixations, np.float32)
        geometry = np.empty((len(fixations), self.count, 4), np.float32)
        if len(fixations):
            at, out = fixations.ctypes.data, geometry.ctypes.data
            _check(_tensor_abi._open().saccade_lattice_plan(self.handle, at, len(fixations), int(in_pixels), out))
        return geometry


class Facts(NamedTuple):
    """A lattice as numbers of Python: what plans by torch are made of, also inside torch.compile."""

    e0: float
    m0: float
    unit_per_px: tuple[float, float]
    patches: int
    snap_px: int
    at_px: list[list[float]]  # [N, 2]: offsets from the snapped fixation (nested), or centres
    lod: list[float]  # [N], where it is constant


Key = tuple[Any, ...]  # the arguments of native_of()


@lru_cache(maxsize=256)
def native_of(
    kind: str,
    patches: int | None,
    patch_size: int,
    size: tuple[int, int],
    levels: int,
    e0: float | None,
    m0: float | None,
    unit: str,
    fov_deg: float,
    sar: float,
    rings: tuple[tuple[int, int], ...] | None,
) -> NativeLattice:
    """The library's lattice of these settings; solved once."""
    given = rings or ()
    strides, sides = ((ctypes.c_int32 * len(given))(*(ring[k] for ring in given)) for k in (0, 1))
    return NativeLattice(
        _abi.saccade_lattice_settings(
            struct_size=ctypes.sizeof(_abi.saccade_lattice_settings),
            strides=ctypes.addressof(strides),
            sides=ctypes.addressof(sides),
            e0=e0 or 0.0,
            m0=m0 or 0.0,
            lod=-1.0,
            fov_deg=fov_deg,
            sar=sar,
            ring_count=len(given),
            kind=KINDS.index(kind),
            uv=int(unit == "uv"),
            patches=patches or 0,
            patch_size=patch_size,
            levels=levels,
            width_px=size[1],
            height_px=size[0],
        )
    )


def facts_of(key: Key) -> Facts:
    """What the library found, and in f64 what it was given, which it keeps in f32."""
    native = native_of(*key)
    origin = native.plan(np.zeros((1, 2), np.float32), in_pixels=True)[0]
    info = native.info
    kind, _, _, (height, width), _, e0, m0, unit, fov_deg, sar, _ = key
    solves = e0 is None and m0 is None and kind != "grid"
    e0 = float(info.e0) if solves else e0 or PRESETS["geisler-perry"][0]
    m0 = float(info.m0) if solves else m0 or e0
    per_px = (1 / width, 1 / height) if unit == "uv" else (fov_deg / width, fov_deg / (width * sar))
    at, lod = origin[:, :2].tolist(), origin[:, 2].tolist()
    return Facts(e0, m0, per_px, native.count, int(info.snap_px), at, lod)


# torch.compile calls it while it traces, and takes the result for a constant: torch.compiler.assume_constant_result.
facts_of._dynamo_marked_constant = True  # type: ignore[attr-defined]
