"""A stream without its public face: settings, the library's handle, and taking emissions from it."""

from __future__ import annotations

import atexit
import ctypes
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pysaccade._native import _abi, _arrays, _calls, _process
from pysaccade._native._arguments import quoted
from pysaccade._native._errors import UnavailableError
from pysaccade._native._normalize import normalization_of
from pysaccade.emission._emission import Emission
from pysaccade.stream import _handle
from pysaccade.stream._ahead import Ahead, prefetch_of
from pysaccade.stream._fixations import Fixation, fixation_of
from pysaccade.stream._options import NativeOptions, table, unknown_name
from pysaccade.stream._sources import Source, lasting, source_of
from pysaccade.stream._take import Facts, Taker, ViewMaker

_SLICE_MS = 100  # a wait looks at Ctrl-C and at other threads this often
_OWN_NAMES = ("device", "array", "prefetch")

_open_streams: weakref.WeakSet[Core] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """At the end of the process: whoever waits ends, and then the library's threads do."""
    for stream in list(_open_streams):
        stream.close()


class Core:
    """What `Stream` stands on. See there for what threads may do."""

    def _configure(self, source: Any, settings: Mapping[str, Any]) -> None:
        """Check what can be checked without opening; `settings`: the keywords of __init__."""
        for name in settings:
            if name not in _OWN_NAMES and name not in table():
                raise unknown_name(name, _OWN_NAMES)
        self._taking = threading.RLock()  # one thread takes emissions
        self._lock = threading.RLock()  # of the handle
        self._waiting = 0  # threads that want the handle while another one waits with it
        self._pending: deque[Callable[[_handle.Handle], int]] = deque()
        self._handle: _handle.Handle | None = None
        self._closed = False
        self._over = False  # of the handle: it gives nothing more
        self._ahead: Ahead | None = None
        self._forks = _process.forks()
        self._settings = dict(settings)
        if isinstance(settings["fixation"], str) and settings["fixation"].startswith("file:"):
            self._settings["fixation"] = lasting(settings["fixation"])
        self._word = _arrays.dtype_word(settings["dtype"])
        self._normalization = normalization_of(settings["normalize"], self._word)
        self._place = _arrays.place_of(settings["array"], settings["device"])
        self._source: Source = source_of(source, settings)
        self._fixation: Fixation = fixation_of(self._settings["fixation"], settings["rate"])
        backend = settings.get("backend")
        self._prefetch = prefetch_of(settings.get("prefetch"), backend)
        if self._place.device == "cuda" and backend not in (None, "auto", "cuda"):
            raise ValueError(
                f"Stream: device={quoted(settings['device'])} conflicts with backend={quoted(backend)}; leave one out"
            )

    def _native_options(self) -> NativeOptions:
        """The library's options of these settings; the caller frees them."""
        place = self._place
        native = NativeOptions()
        try:
            for name, value in self._settings.items():
                if name not in {*_OWN_NAMES, *self._source.own_names, "backend", "fixation", "dtype", "normalize"}:
                    native.set(name, value)
            native.set("dtype", self._word)
            native.set("normalize", self._normalization.name)
            native.set("fixation", self._fixation.option)
            backend = self._settings.get("backend")
            if backend in (None, "auto") and place.device != "auto":
                backend = place.device
            if _process.cuda_is_lost():
                backend = self._without_cuda(backend)
            native.set("backend", backend)
            self._ordinal = _arrays.current_cuda_index(place)
            if self._uses_cuda(backend):  # torch's current device is no wish of those who don't
                native.set("device", self._ordinal)
        except BaseException:
            native.free()
            raise
        return native

    def _uses_cuda(self, backend: str | None) -> bool:
        decodes = self._settings.get("require_hwdec") or self._settings.get("hwdec") not in (None, "no", "auto")
        return backend in (None, "auto", "cuda") or bool(decodes)

    @staticmethod
    def _without_cuda(backend: str | None) -> str:
        """The backend of a process that was forked from one that had used CUDA."""
        if backend == "cuda":
            raise UnavailableError(
                "Stream: CUDA was used before this process was forked, and can't be used in it; start workers by "
                "spawn, or pass device='cpu'"
            )
        if backend in (None, "auto"):
            _process.LOGGER.warning(
                "CUDA was used before this process was forked: the CPU takes over; spawn workers instead"
            )
            return "cpu"
        return str(backend)

    def _opened(self) -> _handle.Handle:
        """The handle, of a source that is open: opened now if it never was."""
        if self._closed:
            raise closed_error()
        if self._handle is None:
            self._forks = _process.forks()
            self._open()
        assert self._handle is not None
        return self._handle

    def _check_process(self) -> None:
        if self._forks != _process.forks() and self._handle is not None:
            raise _handle.fork_error()

    def _check_use(self) -> None:
        """Raise in a forked child, and in a callable or an iterable that uses the stream by which it was asked."""
        self._check_process()
        if self._is_asking():
            raise ValueError(
                "Stream: inside its own fixation callable or its source a stream gives its request, texture, info and "
                "geometry, and takes look, attend and close"
            )

    def _is_asking(self) -> bool:
        return threading.get_ident() in (self._fixation.asking, self._source.asking)

    def _open(self) -> None:
        native = self._native_options()
        try:
            handle = _handle.Handle(native)
        finally:
            native.free()
        try:
            self._fixation.give_to(handle, self)
            self._handle = handle  # where close(), from another thread, finds it
            self._source.open(handle, on_this_thread=self._settings.get("backend") == "gl")
            self._info = handle.info()
            self._geometry = handle.geometry()
            _process.note_backend(self._geometry.backend)
            self._taker = Taker(handle, self._memory(), self._word, self._normalization)
            self._facts = Facts(self._info.size, self._info.sar, self._normalization, self._make_views)
        except BaseException:
            self._handle = None
            handle.free()
            if self._closed:
                raise ValueError("Stream: it was closed while it opened") from None
            raise
        self._over = False
        _open_streams.add(self)

    def _memory(self) -> _arrays.Memory:
        shape = self._geometry
        patches = (shape.patch_count, 3, shape.patch_size, shape.patch_size)
        ordinal = None
        if self._place.kind == "torch" and self._place.device != "cpu" and shape.backend == "cuda":
            torch = _arrays.import_torch()
            ordinal = self._ordinal if torch.cuda.is_available() else None
        return _arrays.Memory(self._place.kind, self._word, patches, ordinal)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def close(self) -> None:
        """End decoding and give everything back; emissions stay. Loops over it end, in any thread. Again: nothing.

        Called inside a callable `fixation`, the emission of that fixation is not given out any more.
        """
        self._closed = True
        if self._forks != _process.forks():  # a forked child: all that is the parent's
            return
        if self._ahead is not None:
            self._ahead.end()
        handle = self._handle
        if handle is None:
            return
        handle.interrupt()
        if self._fixation.asking != threading.get_ident():  # else the library works with it, and _try() drops it
            with self._mine():
                self._drop()

    def _was_closed(self) -> bool:
        return self._closed  # asked again and again while other threads run

    def _drop(self) -> None:
        handle, self._handle = self._handle, None
        self._pending.clear()
        if handle is not None:
            handle.free()

    def _stop_ahead(self) -> None:
        """End the thread that makes emissions ahead; what it has made is dropped."""
        ahead, handle = self._ahead, self._handle
        if ahead is not None:
            ahead.end()
            if handle is not None:
                handle.interrupt()
            ahead.join()
            self._ahead = None

    def _make_views(self, maker: ViewMaker, settings: _abi.saccade_views_settings, who: str) -> int:
        """Call saccade_stream_views() for an emission of this stream's; the address of what it gives."""
        self._check_process()
        if self._prefetch:
            raise ValueError(f"{who}: prefetch={self._prefetch} has the stream work ahead; views need prefetch=0")
        with self._mine():
            if self._handle is None:
                raise closed_error()
            if self._facts is not maker.facts or maker.number != maker.facts.count:
                raise ValueError(
                    f"{who}: the stream has given another emission since; ask before you take the next one"
                )
            out = ctypes.c_void_p()
            self._handle.call("views", ctypes.byref(settings), ctypes.byref(out), prefix=f"{who}: ")
            assert out.value is not None
            return out.value

    def _mine(self) -> _Mine:
        return _Mine(self)

    def _take_ahead(self) -> Emission:
        """Take the next one of those that a thread makes ahead. Raises StopIteration at the end."""
        if self._closed:
            raise StopIteration
        with self._taking:
            if self._ahead is None:
                with self._lock:
                    self._opened()
                self._ahead = Ahead(self, self._prefetch, self._taker.memory.cuda_index)
            ahead = self._ahead
        return ahead.next()

    def _try_one(self, arrays: Sequence[Any], addresses: Sequence[int]) -> Emission | bool | None:
        """_try() into these arrays: an emission in place of True."""
        taken = self._try(addresses)
        return self._facts.emission(arrays, self._taker.view) if taken else taken

    def _take(self, addresses: Sequence[int]) -> bool:
        """Wait for the next emission and write it to these addresses; False: the stream is over, or was closed."""
        taken = None
        while taken is None:
            taken = self._try(addresses)
        return taken

    def _try(self, addresses: Sequence[int]) -> bool | None:
        """Wait a little: _take(), or None where there is none yet."""
        if self._was_closed():
            return False
        try:
            self._source.fetch()  # may take as long as the caller's iterable likes: others may have the handle
        except Exception:
            if not self._was_closed():
                raise
        with self._lock:
            if self._was_closed():
                self._drop()
            if self._over or self._handle is None:
                return False
            while self._pending:
                self._pending.popleft()(self._handle)
            try:
                status = self._source.take(self._handle, self._taker, _SLICE_MS, addresses)
            except Exception:
                if not self._was_closed():
                    raise
                self._drop()  # closed meanwhile: the frame came too late
                return False
            if status != _abi.SACCADE_LATER:
                return self._is_emission(status)
        if self._waiting:
            time.sleep(0.001)  # locks know no queue: else this thread would have it again at once
        return None

    def _is_emission(self, status: int) -> bool:
        """Whether the status is that of an emission that is given out; raises for errors."""
        if status == _abi.SACCADE_OK and not self._was_closed():
            return True
        error = self._fixation.error()
        if self._was_closed():  # by a callable of the caller's, or another thread
            self._drop()
        if isinstance(error, StopIteration):  # else it would look like the video's end
            raise RuntimeError("Stream: the fixation callable raised StopIteration") from error
        if error is not None:  # a callable of the caller's
            raise error
        self._over = True
        failed = _calls.error(status) if status < 0 else None
        if self._handle is not None:
            self._handle.pass_log_on()
        if failed is not None and not self._closed:
            raise failed
        return False


class _Mine:
    """The handle's lock, said aloud: a thread that waits for emissions then lets go of it for a moment."""

    def __init__(self, stream: Core) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        self._stream._waiting += 1
        try:
            self._stream._lock.acquire()
        finally:
            self._stream._waiting -= 1

    def __exit__(self, *_: object) -> None:
        self._stream._lock.release()


def closed_error() -> ValueError:
    return ValueError("Stream: it was closed; reopen() opens it again")
