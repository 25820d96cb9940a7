"""The library's painter: patches as a picture, and its memory of earlier ones."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from pysaccade._native import _abi, _calls

Array = np.ndarray[Any, Any]
Image = np.ndarray[Any, np.dtype[np.uint8]]
Triple = tuple[float, float, float]

_DTYPES = {"uint8": _abi.SACCADE_U8, "float16": _abi.SACCADE_F16, "float32": _abi.SACCADE_F32}


class Painter:
    """Paints patches of one size, of frames of one size (H, W); one thread at a time."""

    def __init__(
        self, size: tuple[int, int], sar: float, side: int, width: int | None, *, memory: bool, interpolate: bool
    ) -> None:
        """Prepare to paint patches of `side` samples; `width` is the picture's, by default the frame's as displayed."""
        self.size, self.side = size, side
        library = _calls.library()
        settings = _calls.new(_abi.saccade_painter_settings)
        settings.height_px, settings.width_px = size
        settings.patch_size, settings.picture_width_px = side, width or 0
        settings.memory, settings.sar, settings.no_interpolation = int(memory), sar, int(not interpolate)
        handle = ctypes.c_void_p()
        _calls.check(library.saccade_painter_new(ctypes.byref(settings), ctypes.byref(handle)), "paint: ")
        self._handle = handle
        weakref.finalize(self, library.saccade_painter_free, handle)
        shown = (ctypes.c_int32 * 2)()
        at = ctypes.addressof(shown)
        _calls.check(library.saccade_painter_get_size(handle, at, at + 4), "paint: ")
        self.shape = (shown[1], shown[0], 3)

    def paint(self, patches: Array, geometry: Array, mean: Triple, std: Triple) -> Image:
        """Paint samples [N, 3, S, S] that lie where [N, 4] says; a picture of its own."""
        if patches.dtype.name not in _DTYPES:
            patches = patches.astype(np.float32)
        patches = np.ascontiguousarray(patches)
        geometry = np.ascontiguousarray(geometry, np.float32)
        samples = _calls.new(_abi.saccade_patch_samples)
        samples.patches, samples.geometry = patches.ctypes.data, geometry.ctypes.data
        samples.count, samples.dtype = len(patches), _DTYPES[patches.dtype.name]
        samples.mean[:], samples.std[:] = [float(each) for each in mean], [float(each) for each in std]
        image: Image = np.empty(self.shape, np.uint8)
        status = _calls.library().saccade_painter_paint(
            self._handle, ctypes.byref(samples), image.ctypes.data, image.nbytes
        )
        _calls.check(status, "paint: ")
        return image


def draw_fixation(image: Image, fixation: tuple[float, float], in_flight: bool) -> None:
    """Draw a ring with a cross into a picture [H, W, 3], or a broken ring."""
    height, width = image.shape[:2]
    _calls.check(
        _calls.library().saccade_draw_fixation(image.ctypes.data, width, height, *fixation, int(in_flight)), "paint: "
    )
