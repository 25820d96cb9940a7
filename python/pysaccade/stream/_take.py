"""The one place where an emission gets from the library into arrays of the caller's."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

from pysaccade._native import _abi, _arrays, _calls
from pysaccade._native._normalize import Normalization
from pysaccade.emission._emission import Emission, pointer_of
from pysaccade.stream._handle import Handle

_CODES = {"u8": _abi.SACCADE_U8, "f16": _abi.SACCADE_F16, "f32": _abi.SACCADE_F32}


class Facts:
    """What an emission says beside its arrays; those of one stream share what never changes."""

    __slots__ = ("count", "make_views", "mean", "sar", "size", "std")

    def __init__(self, size: tuple[int, int], sar: float, normalization: Normalization, make_views: Any) -> None:
        """`make_views`: of the stream, held weakly: a call of saccade_stream_views() as an address."""
        self.size, self.sar = size, sar
        self.mean, self.std = normalization.mean, normalization.std
        self.make_views = weakref.WeakMethod(make_views)
        self.count = 0  # of emissions

    def emission(self, arrays: Sequence[Any], view: _abi.saccade_emission_view) -> Emission:
        """An emission of these arrays, in the order of Memory."""
        self.count += 1
        return Emission(
            patches=arrays[0],
            geometry=arrays[1],
            changed=arrays[2],
            frame=view.frame,
            pts_ns=view.pts_ns,
            fixation=(view.fixation_u, view.fixation_v),
            size=self.size,
            in_flight=view.in_flight != 0,
            damaged_tiles=view.damaged_tiles if len(arrays) == 3 else arrays[3],
            gaps=view.gaps,
            captured_unix_ns=view.captured_unix_ns,
            age_seconds=view.age_ns / 1e9,
            pointer=pointer_of(view.pointer_u, view.pointer_v),
            sar=self.sar,
            mean=self.mean,
            std=self.std,
            _maker=ViewMaker(self, self.count),
        )


class ViewMaker:
    """Makes views of the frame of one emission, while it is the stream's last."""

    __slots__ = ("facts", "number")

    def __init__(self, facts: Facts, number: int) -> None:
        self.facts, self.number = facts, number

    def views(self, settings: _abi.saccade_views_settings, who: str) -> int:
        """The address of the saccade_views, which the caller frees."""
        make = self.facts.make_views()
        if make is None:
            raise ValueError(f"{who}: its stream is gone; keep it as long as you ask for views")
        address: int = make(self, settings, who)
        return address


class Taker:
    """Takes emissions of one open stream into memory that each time is the caller's own."""

    def __init__(self, handle: Handle, memory: _arrays.Memory, word: str, normalization: Normalization) -> None:
        """`word`: the library's, of the samples' type."""
        self._address = handle.address
        self.memory = memory
        self._next = _calls.library().saccade_stream_next_into
        self.view = _calls.new(_abi.saccade_emission_view)
        self._target = _calls.new(_abi.saccade_target)
        self._target.patches_bytes = memory.patches_bytes
        self._target.dtype = _CODES[word]
        self._target.mean[:] = normalization.mean
        self._target.deviation[:] = normalization.std
        self._cuda_index = memory.cuda_index
        if memory.cuda_index is not None:
            self._target.memory = _abi.SACCADE_CUDA
            self._target.device = memory.cuda_index
        self._target_at, self._view_at = ctypes.byref(self._target), ctypes.byref(self.view)

    def take(self, timeout_ms: int, addresses: Sequence[int]) -> int:
        """Wait for an emission and write its arrays to these addresses, in the order of Memory; the rest is in `view`.

        Returns the library's status: OK, LATER, END, or an error whose text is the thread's last one. On a GPU it is
        ordered as work of torch's current stream, and nothing waits for it.
        """
        target = self._target
        if self._cuda_index is None:
            target.patches, target.geometry, target.changed = addresses
        else:
            target.patches, target.geometry, target.changed, target.damaged_tiles = addresses
            target.cuda_stream = _arrays.current_cuda_stream(self._cuda_index)
        status: int = self._next(self._address, timeout_ms, self._target_at, self._view_at)
        return status
