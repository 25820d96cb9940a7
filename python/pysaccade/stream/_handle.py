"""The library's stream as an object: opened, asked, freed once, left alone by a forked child."""

from __future__ import annotations

import ctypes
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from pysaccade._native import _abi, _calls, _process
from pysaccade._native._errors import UnavailableError
from pysaccade.stream import _info
from pysaccade.stream._options import NativeOptions

_LEVELS = {
    _abi.SACCADE_LOG_DEBUG: logging.DEBUG,
    _abi.SACCADE_LOG_INFO: logging.INFO,
    _abi.SACCADE_LOG_WARNING: logging.WARNING,
    _abi.SACCADE_LOG_ERROR: logging.ERROR,
}
_MOST_LINES = 1000  # that wait; older ones go


def fork_error() -> UnavailableError:
    """Make the error of whoever uses a parent's stream in a forked child."""
    return UnavailableError(
        "Stream: it was opened before a fork, and its threads stayed in the parent process; make the stream in the "
        "child, or start workers by spawn: a pickled stream opens where it is first used"
    )


class _Log:
    """Lines of the library, kept until a thread of Python's passes them on: its own threads take no lock of ours."""

    def __init__(self) -> None:
        self.lines: deque[tuple[int, str]] = deque(maxlen=_MOST_LINES)
        self.kept: list[object] = []
        keep = self.lines.append

        def take(_user: int | None, level: int, line: bytes) -> None:
            keep((level, _calls.text(line)))

        self.function = _abi.saccade_log_function(take)

    @staticmethod
    def least() -> int:
        """The least level that anybody listens to."""
        wanted = _process.LOGGER.getEffectiveLevel()
        return min((ours for ours, python in _LEVELS.items() if python >= wanted), default=_abi.SACCADE_LOG_ERROR)

    def pass_on(self) -> None:
        """Give what has come to logging."""
        while self.lines:
            try:
                level, line = self.lines.popleft()
            except IndexError:  # another thread took the last one
                return
            _process.LOGGER.log(_LEVELS.get(level, logging.INFO), "%s", line)


def _free(address: int, log: _Log, born: int) -> None:
    """Free a stream where it was made. The log's function must live until this has returned."""
    if born == _process.forks():
        _calls.library().saccade_stream_free(address)
        log.pass_on()


class Handle:
    """A saccade_stream. One thread at a time, but for `interrupt`; the caller sees to that."""

    def __init__(self, options: NativeOptions) -> None:
        """Check the options; opens nothing.

        Raises:
            ValueError: Options conflict.
            UnavailableError: The backend can't be used here.
        """
        self._lib = _calls.library()
        self._log = _Log()
        self._lib.saccade_options_set_log(options.handle, _Log.least(), self._log.function, None)
        out = ctypes.c_void_p()
        _calls.check(self._lib.saccade_stream_new(options.handle, ctypes.byref(out)), "Stream: ")
        assert out.value is not None
        self.address: int = out.value
        self._finalizer = weakref.finalize(self, _free, self.address, self._log, _process.forks())
        self._finalizer.atexit = False  # another thread may still work with it: Stream closes it at exit
        self._level = _calls.new(_abi.saccade_level)

    def keep(self, function: object) -> None:
        """Hold a function that the library calls until the stream is freed."""
        self._log.kept.append(function)

    def free(self) -> None:
        """Free it now; again: nothing."""
        self._finalizer()

    def interrupt(self) -> None:
        """From any thread: whoever waits with this stream ends promptly, for good."""
        if self._finalizer.alive:
            self._lib.saccade_stream_interrupt(self.address)

    def open(self, uri: bytes, *, on_this_thread: bool) -> None:
        """Open a source and wait for its first frame; Ctrl-C ends that at once.

        Raises:
            InputError, UnavailableError, ValueError: As the library says.
        """

        def work() -> None:
            _calls.check(self._lib.saccade_stream_open(self.address, uri))

        if on_this_thread or threading.current_thread() is not threading.main_thread():
            work()
        else:  # a thread in C sees no signal, so the main thread, which gets them, waits in Python
            self._run_beside(work)
        self._log.pass_on()

    def _run_beside(self, work: Callable[[], None]) -> None:
        failed: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        threading.Thread(target=run, name="pysaccade-open", daemon=True).start()
        try:
            done.wait()
        except BaseException:
            self.interrupt()
            done.wait()
            raise
        if failed:
            error = failed.pop()
            try:
                raise error.with_traceback(None)
            finally:
                del error  # else the exception's traceback and this frame hold each other

    def call(self, name: str, *arguments: Any, prefix: str = "") -> int:
        """Call saccade_stream_NAME; raises for an error, and gives its messages to logging."""
        status: int = getattr(self._lib, f"saccade_stream_{name}")(self.address, *arguments)
        failed = _calls.error(status, prefix) if status < 0 else None
        self.pass_log_on()
        if failed is not None:
            raise failed
        return status

    def pass_log_on(self) -> None:
        """Give what the library has said to logging."""
        if self._log.lines:
            self._log.pass_on()

    def info(self) -> _info.StreamInfo:
        """Facts of the source that is open."""
        struct = _calls.new(_abi.saccade_stream_info)
        self.call("get_info", ctypes.byref(struct))
        return _info.stream_info(struct)

    def geometry(self) -> _info.Geometry:
        """Shapes, fixed while a source is open."""
        struct = _calls.new(_abi.saccade_geometry)
        self.call("get_geometry", ctypes.byref(struct))
        return _info.geometry(struct)

    def counters(self) -> _info.Counters:
        """Totals since the source was opened."""
        struct = _calls.new(_abi.saccade_counters)
        self.call("get_counters", ctypes.byref(struct))
        return _info.counters(struct)

    def level(self, plane: int, level: int) -> _abi.saccade_level:
        """The shape of a level; of the same struct each time."""
        self.call("get_level", plane, level, ctypes.byref(self._level), prefix="Stream.texture: ")
        return self._level
