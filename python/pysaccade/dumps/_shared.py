"""Memory in which a DataLoader's worker hands a batch to the main process, used again and again.

torch makes new shared memory for every batch. The system zeroes it page by page, which takes twenty times as long as
copying a clip into it, and as many file descriptors travel as a batch has tensors. Here a worker keeps a few segments.
The main process opens the one that holds a batch, and the worker takes it again when no tensor there uses it.

A segment is a memfd: it has no name and no place in /dev/shm, and ends with the processes that hold it. Its first page
begins with who has it; what is lent begins behind that page.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import mmap
import multiprocessing
import os
import weakref
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import get_worker_info

from pysaccade.dumps._received import FREE, HEADER, RECEIVED, SENT, Handle, Part, received

_ALIGN = 64
_SLACK = 1 << 16  # for small tensors that a batch gets besides
_ROUNDED = 1 << 20  # sizes, so that the next batch fits into the same segment
_KEPT = 8  # segments of a process that may be taken again


class Lease:
    """A segment's memory for one batch. It stays lent as long as a tensor lies in it."""

    def __init__(self, segment: _Segment, buffer: Any, room: int) -> None:
        """`room`: rows of patches that each item has there, zeros behind its own; 0: as many as it needs."""
        self.segment = segment
        self.room = room
        self.buffer = buffer
        self.begin = ctypes.addressof(buffer)
        self._used = 0
        self._items: dict[int, int] = {}  # rows of the one that begins there

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype, align: int = _ALIGN) -> Tensor | None:
        """Memory of its own for a tensor, with whatever it holds; None: there is no room."""
        count = math.prod(shape)
        offset = -(-self._used // align) * align
        end = offset + count * dtype.itemsize
        if count == 0 or end > len(self.buffer):
            return None
        self._used = end
        return self.view(offset, shape, dtype)

    def item(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor | None:
        """Memory for an item's patches, behind those of the item before."""
        rows = max(self.room, shape[0])
        memory = self.tensor((rows, *shape[1:]), dtype, dtype.itemsize)
        if memory is None:
            return None
        memory[shape[0] :] = 0
        self._items[memory.data_ptr() - self.begin] = shape[0]
        return memory[: shape[0]]

    def in_a_row(self, values: list[Tensor]) -> Tensor | None:
        """All of these items as one tensor, without a copy: each with its room. None: they don't lie so."""
        first = end = values[0].data_ptr() - self.begin
        rows = 0
        for value in values:
            if self._items.get(end) != len(value) or value.data_ptr() - self.begin != end or not value.is_contiguous():
                return None
            its_rows = max(len(value), self.room)
            rows += its_rows
            end += its_rows * math.prod(value.shape[1:]) * value.itemsize
        return self.view(first, (rows, *values[0].shape[1:]), values[0].dtype)

    def view(self, offset: int, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """The tensor that lies there."""
        return torch.frombuffer(self.buffer, dtype=dtype, count=math.prod(shape), offset=offset).view(shape)

    def part_of(self, value: Any) -> Part | None:
        """A tensor of the host's as what lies here: it is copied in where there is room. None: anything else."""
        if not _is_plain(value):
            return None
        offset = None if value.is_conj() or value.is_neg() else self.offset_of(value)
        if offset is None:
            mine = self.tensor(tuple(value.shape), value.dtype)
            if mine is None:
                return None
            mine.copy_(value)
            offset = mine.data_ptr() - self.begin
        return Part(offset, value.dtype, tuple(value.shape))

    def offset_of(self, tensor: Tensor) -> int | None:
        """Where a tensor of the host's without gaps lies; None: elsewhere."""
        offset = tensor.data_ptr() - self.begin
        return offset if offset >= 0 and offset + tensor.nbytes <= len(self.buffer) else None


def _is_plain(value: Any) -> bool:
    """Whether a tensor is nothing but numbers in a row in the host's memory."""
    if type(value) is not Tensor or value.is_nested or value.layout is not torch.strided or value.is_quantized:
        return False
    return not value.requires_grad and value.device.type == "cpu" and value.is_contiguous()


class _Segment:
    """Memory that a worker owns."""

    def __init__(self, size: int) -> None:
        self.length, self.serial = HEADER + size, int.from_bytes(os.urandom(8), "little")
        self.descriptor = os.memfd_create("saccade-batch", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, self.length)
        self._map = mmap.mmap(self.descriptor, self.length)
        with contextlib.suppress(OSError):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self._lent: weakref.ref[Any] | None = None

    @property
    def state(self) -> int:
        """Whether the main process has it."""
        return self._map[0]

    @property
    def is_free(self) -> bool:
        """Neither tensors of this process nor of the main one lie in it."""
        return self._map[0] == FREE and (self._lent is None or self._lent() is None)

    def lend(self, room: int) -> Lease:
        """All of it."""
        buffer = (ctypes.c_ubyte * (self.length - HEADER)).from_buffer(self._map, HEADER)
        self._lent = weakref.ref(buffer)
        return Lease(self, buffer, room)

    def send(self) -> Handle:
        """Give it to the main process, too."""
        self._map[0] = SENT
        return Handle(os.getpid(), self.descriptor, self.serial, self.length)


class _Pool:
    """A worker's segments."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._retired: list[_Segment] = []  # never lent again, but on their way to the main process
        self.last: Lease | None = None  # what was lent last
        self.pads = False  # collate did so last

    def lend(self, size: int, room: int) -> Lease:
        """At least so many bytes: a free segment's, else a new one's."""
        self.last = None
        self._retired = [s for s in self._retired if not (s.is_free or s.state >= RECEIVED)]
        fitting = [s for s in self._segments if s.is_free and s.length - HEADER >= size]
        segment = min(fitting, key=lambda s: s.length, default=None)
        if segment is None:
            self._forget()
            segment = _Segment(-(-size // _ROUNDED) * _ROUNDED)
            self._segments.append(segment)
        self.last = segment.lend(room)
        return self.last

    def retire(self) -> None:
        """Let go of all: what a child has from now on is never taken again."""
        self._retired += self._segments
        self._segments = []

    def _forget(self) -> None:
        """Make room for a new one: what is free was too small, and what the main process keeps is its own."""
        free = [s for s in self._segments if s.is_free]
        kept_there = [s for s in self._segments if s.state >= RECEIVED]
        too_many = max(len(self._segments) - _KEPT + 1, 0)
        for segment in [*free, *kept_there][:too_many]:
            self._segments.remove(segment)


@functools.lru_cache(maxsize=1)
def _pool_of(pid: int) -> _Pool | None:
    """The pool of this process; None where the main process couldn't open what it is given."""
    del pid  # a forked child has none of its parent's
    parent = multiprocessing.parent_process()
    if parent is None or not hasattr(os, "memfd_create"):
        return None
    try:
        os.listdir(f"/proc/{parent.pid}/fd")  # as it may look at ours, we may look at its
    except OSError:
        return None
    return _Pool()


def _pool() -> _Pool | None:
    return None if get_worker_info() is None else _pool_of(os.getpid())


def shares() -> bool:
    """Whether this is a DataLoader's worker, whose main process can open what it is given."""
    return _pool() is not None


def lend(size: int, room: int = 0) -> Lease | None:
    """Memory for a batch of so many bytes; None in a process that shares none. `room`: as Lease's."""
    pool = _pool()
    return None if pool is None else pool.lend(size + _SLACK, room)


def pads() -> bool:
    """Whether the last batch of this worker was padded: the next one will be."""
    pool = _pool()
    return pool is not None and pool.pads


def note_padding(pads: bool) -> None:
    """Note for pads() whether this worker's batches are padded."""
    pool = _pool()
    if pool is not None:
        pool.pads = pads


def last_lease() -> Lease | None:
    """What this worker was lent last."""
    pool = _pool()
    return None if pool is None else pool.last


class Batch(dict[str, Any]):
    """A batch whose tensors lie in a lease. To anybody but the main process it is a dict as others are."""

    lease: Lease

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)


def _sent(batch: Batch) -> Any:
    if batch.lease.segment.state != FREE:  # the main process has it already: a second time it gets a copy
        return dict, (dict(batch),)
    parts = {key: batch.lease.part_of(value) or value for key, value in batch.items()}
    return received, (parts, batch.lease.segment.send())


ForkingPickler.register(Batch, _sent)


def _before_fork() -> None:
    pool = _pool()
    if pool is not None:
        pool.retire()


os.register_at_fork(before=_before_fork)
