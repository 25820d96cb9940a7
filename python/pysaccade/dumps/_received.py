"""Batches that a DataLoader's worker hands over in shared memory (_shared.py), as the main process gets them."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pysaccade._native._maps import map_shared

# A segment's first page says in its first byte who has it; SPREAD: a fork of the main process has it, too.
HEADER = 4096
FREE, SENT, RECEIVED, SPREAD = 0, 1, 2, 3
_MAPS_OF_WORKER = 10


class Handle(NamedTuple):
    """Where a segment is found."""

    pid: int
    descriptor: int
    serial: int  # no other segment has it
    length: int


class Part(NamedTuple):
    """A tensor in a segment."""

    offset: int
    dtype: torch.dtype
    shape: tuple[int, ...]


def received(parts: dict[str, Any], handle: Handle) -> dict[str, Any]:
    """The batch; the worker may take its segment again when the last of these tensors is gone."""
    mapped = _mapped(handle)
    buffer = type(mapped).from_buffer(mapped)
    weakref.finalize(buffer, _give_back, ctypes.addressof(buffer)).atexit = False
    buffer[0] = RECEIVED
    _held[ctypes.addressof(buffer)] = buffer
    return {key: _tensor(buffer, value) if isinstance(value, Part) else value for key, value in parts.items()}


def _tensor(buffer: Any, part: Part) -> Tensor:
    count = math.prod(part.shape)
    return torch.frombuffer(buffer, dtype=part.dtype, count=count, offset=HEADER + part.offset).view(part.shape)


def _give_back(address: int) -> None:
    state = ctypes.c_ubyte.from_address(address)
    if state.value == RECEIVED:
        state.value = FREE


# ---- Maps, kept as long as their worker lives: making one costs more than copying a clip -----------------------------

_maps: dict[int, OrderedDict[int, Any]] = {}  # by worker, by segment


def _mapped(handle: Handle) -> Any:
    of_worker = _maps.get(handle.pid)
    if of_worker is None:
        of_worker = OrderedDict()
        for child in multiprocessing.active_children():
            if child.pid == handle.pid:  # its object is gone when the DataLoader has let go of it
                _maps[handle.pid] = of_worker
                weakref.finalize(child, _maps.pop, handle.pid, None).atexit = False
    found = of_worker.get(handle.serial)
    if found is None:
        found = of_worker[handle.serial] = _open(handle)
        while len(of_worker) > _MAPS_OF_WORKER:
            of_worker.popitem(last=False)
    of_worker.move_to_end(handle.serial)
    return found


def _open(handle: Handle) -> Any:
    path = f"/proc/{handle.pid}/fd/{handle.descriptor}"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise RuntimeError(
            f"a DataLoader's worker is gone, or its batch can't be opened: {path}: {error.strerror}"
        ) from None
    try:
        return map_shared(descriptor, handle.length)
    finally:
        os.close(descriptor)


# ---- Forks -----------------------------------------------------------------------------------------------------------

_held: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # by address: what was received


def _before_fork() -> None:
    """What two processes have from now on is never taken again."""
    for buffer in list(_held.values()):
        buffer[0] = SPREAD


os.register_at_fork(before=_before_fork)
