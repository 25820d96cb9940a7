"""The one place where an emission gets from the library into arrays of the caller's."""

from __future__ import annotations

import ctypes
from typing import Any

from pysaccade import _abi, _arrays, _native
from pysaccade._handle import Handle
from pysaccade._normalize import Normalization
from pysaccade.emission import Emission

_OK = _abi.SACCADE_OK


class Facts:
    """What an emission says beside its arrays; those of one stream share what never changes."""

    __slots__ = ("mean", "sar", "size", "std")

    def __init__(self, size: tuple[int, int], sar: float, normalization: Normalization) -> None:
        self.size, self.sar = size, sar
        self.mean, self.std = normalization.mean, normalization.std

    def emission(self, arrays: tuple[Any, Any, Any], view: _abi.saccade_emission_view) -> Emission:
        """An emission of these arrays."""
        return Emission(
            patches=arrays[0],
            geometry=arrays[1],
            changed=arrays[2],
            frame=view.frame,
            pts_ns=view.pts_ns,
            fixation=(view.fixation_u, view.fixation_v),
            size=self.size,
            in_flight=view.in_flight != 0,
            damaged_tiles=view.damaged_tiles,
            gaps=view.gaps,
            captured_unix_ns=view.captured_unix_ns,
            age_seconds=view.age_ns / 1e9,
            sar=self.sar,
            mean=self.mean,
            std=self.std,
        )


class Taker:
    """Takes emissions of one open stream into memory that each time is the caller's own."""

    def __init__(self, handle: Handle, memory: _arrays.Memory, normalization: Normalization) -> None:
        self._handle = handle
        self.memory = memory
        self._normalization = normalization
        self._lib = _native.library()
        self._next = self._lib.saccade_stream_next
        self._out = ctypes.c_void_p()
        self.view = _native.new(_abi.saccade_emission_view)

    def take(self, timeout_ms: int, addresses: tuple[int, ...]) -> int:
        """Wait for an emission and write its patches, geometry and changed to these addresses; the rest is in `view`.

        Returns the library's status: OK, LATER, END, or an error whose text is the thread's last one.
        """
        out = self._out
        status: int = self._next(self._handle.address, timeout_ms, ctypes.byref(out))
        if status != _OK:
            return status
        try:
            view = self.view
            status = self._lib.saccade_emission_get(out, ctypes.byref(view))
            if status != _OK:
                return status
            count = view.patch_count
            patches, geometry, changed = addresses
            return int(
                self._lib.saccade_emission_copy(out, patches, view.patches_bytes, geometry, 16 * count, changed, count)
            )
        finally:
            self._lib.saccade_emission_release(out)
