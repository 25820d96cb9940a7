"""Emissions made ahead by a thread of the stream's, while its user works with the last one."""

from __future__ import annotations

import contextlib
import operator
import queue
import sys
import threading
import weakref
from typing import Any, Protocol

from pysaccade._native._arguments import quoted
from pysaccade.emission._emission import Emission

MOST = 1024
_END = object()


def prefetch_of(value: Any, backend: Any) -> int:
    """Read the argument `prefetch` of a stream.

    Raises:
        TypeError, ValueError: It is no number of emissions, or can't be with this backend.
    """
    try:
        number = 0 if value is None else operator.index(value)
    except TypeError:
        number = -1
        if not isinstance(value, float):
            raise TypeError(f"Stream: prefetch takes a number of emissions, not {quoted(value)}") from None
    if isinstance(value, bool) or not 0 <= number <= MOST:
        raise ValueError(f"Stream: prefetch is a whole number from 0 to {MOST}, not {quoted(value)}")
    if number and backend == "gl":
        raise ValueError("Stream: prefetch needs a thread, and backend='gl' keeps to yours; leave one of them out")
    return number


class Source(Protocol):
    """What emissions are made of: _core.Core."""

    _taker: Any

    def _try_one(self, arrays: Any, addresses: Any) -> Any:
        """Make one emission; False: the stream ended, None: it has none yet."""


class Ahead:
    """A thread that keeps up to `count` emissions of a stream ready. It holds no reference to a stream that rests."""

    def __init__(self, stream: Source, count: int, cuda_index: int | None) -> None:
        """`cuda_index`: of the GPU that patches lie on; None: they lie on the host."""
        self.over = False  # the end was given out
        self._stopped = False
        self._ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(count):
            self._room.put(None)
        self._cuda: Any = None if cuda_index is None else sys.modules["torch"].cuda.current_stream(cuda_index)
        room = self._room
        self._stream = weakref.ref(stream, lambda _: room.put(None))  # wakes the thread, which then ends
        self._thread = threading.Thread(target=self._run, name="pysaccade-prefetch", daemon=True)
        self._thread.start()

    def next(self) -> Emission:
        """Wait for the next one, which is ordered as work of the caller's current CUDA stream.

        Raises StopIteration at the end, and what the stream has raised.
        """
        item = self._ready.get()
        if item is _END or isinstance(item, BaseException):
            self.over = True
            self._ready.put(_END)  # for other threads, and the next time
            if isinstance(item, BaseException):
                raise item
            raise StopIteration
        self._room.put(None)
        if self._cuda is not None:
            self._hand_over(item)
        emission: Emission = item
        return emission

    def _hand_over(self, emission: Emission) -> None:
        torch = sys.modules["torch"]
        current = torch.cuda.current_stream(self._cuda.device)
        if current == self._cuda:
            return
        current.wait_stream(self._cuda)
        arrays: tuple[Any, ...] = (emission.patches, emission.geometry, emission.changed, emission.damaged_tiles)
        for array in arrays:
            array.record_stream(current)  # its memory goes back to the other stream

    def end(self) -> None:
        """From any thread: whoever waits ends, and the thread does. Nobody waits for that."""
        self._stopped = True
        self._ready.put(_END)
        self._room.put(None)

    def join(self) -> None:
        """Wait for the thread."""
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        torch: Any = sys.modules.get("torch")
        with contextlib.nullcontext() if self._cuda is None else torch.cuda.stream(self._cuda):
            goes_on = True
            while goes_on:
                self._room.get()
                goes_on = self._make()

    def _make(self) -> bool:
        """Make one emission, or pass on how the stream ended. False: that was all."""
        memory = None
        while not self._stopped:
            stream = self._stream()
            if stream is None:
                return False
            try:
                memory = memory or stream._taker.memory.one()
                emission = stream._try_one(*memory)
            except BaseException as error:
                self._ready.put(error.with_traceback(None))
                return False
            finally:
                del stream  # nobody but us may hold it
            if emission is False:
                break
            if emission is not None:
                self._ready.put(emission)
                return True
        self._ready.put(_END)
        return False
