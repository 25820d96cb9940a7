"""What a stream reads: names that the library opens, or frames of the caller's."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from pysaccade._native import _abi, _arrays, _calls
from pysaccade._native._arguments import quoted, without_secrets
from pysaccade._native._errors import InputError
from pysaccade.stream import _frames
from pysaccade.stream._handle import Handle
from pysaccade.stream._options import table
from pysaccade.stream._take import Taker

_DEFAULT_RATE = Fraction(25)
_MOST_NS = 4 * 10**18  # of a frame's time: what the library takes
_MOST_PATH_BYTES = 4096
_CHANNELS = (1, 3, 4)
_NO_PATHS = ("lavfi:", "test:", "v4l2:")


# Options of the group "Source" that say something of frames.
_NAMES_OF_FRAMES: tuple[str, ...] = ("input_rate",)


class Source(Protocol):
    """Where frames come from."""

    original: Any
    own_names: tuple[str, ...]  # of options that the library is not told of
    asking: int | None  # the thread on which an iterable of the caller's is asked for a frame now

    def open(self, handle: Handle, *, on_this_thread: bool) -> None:
        """Open it, and wait for the first frame."""

    def fetch(self) -> None:
        """Have the next frame at hand, as long as that takes; nobody else's handle is needed for it."""

    def take(self, handle: Handle, taker: Taker, timeout_ms: int, addresses: Sequence[int]) -> int:
        """Taker.take."""

    def describe(self) -> str:
        """It, in a few words."""


class NamedSource:
    """What the library opens by itself."""

    own_names: tuple[str, ...] = ()

    def __init__(self, original: Any, uri: bytes) -> None:
        self.original = original
        self.asking: int | None = None
        self._uri = uri

    def open(self, handle: Handle, *, on_this_thread: bool) -> None:
        """Open it, and wait for the first frame."""
        handle.open(self._uri, on_this_thread=on_this_thread)

    def fetch(self) -> None:
        """Nothing: a thread of the library's reads ahead."""

    def take(self, handle: Handle, taker: Taker, timeout_ms: int, addresses: Sequence[int]) -> int:
        """Taker.take."""
        del handle
        return taker.take(timeout_ms, addresses)

    def describe(self) -> str:
        """The name, or what may be shown of it."""
        return repr(without_secrets(os.fsdecode(self._uri)))


class FrameSource:
    """Frames of the caller's: pushed, one after the other, on the thread that asks for emissions."""

    own_names = _NAMES_OF_FRAMES

    def __init__(self, original: Iterable[Any], rate: Fraction) -> None:
        """`rate`: frames a second of those that have no time of their own."""
        self.original = original
        self.asking: int | None = None
        self._rate = rate
        self._frames: Iterator[Any] = iter(())
        self._used_up = False
        self._ended = self._end_is_told = False
        self._waiting: list[Any] = []  # the frame at hand

    def open(self, handle: Handle, *, on_this_thread: bool) -> None:
        """Look at the first frame: it decides size and layout."""
        del on_this_thread
        if self._used_up:
            raise ValueError("Stream: its source was an iterator, which is used up; pass a list, or another iterable")
        self._frames = iter(self.original)
        self._used_up = self._frames is self.original
        self._ended = self._end_is_told = False
        self._count = 0
        self._last_pts_ns: int | None = None
        self._due = ctypes.c_int32()
        try:
            first = next(self._frames)
        except StopIteration:
            raise InputError("Stream: its source holds no frame") from None
        self._layout = _frames.layout_of(_frames.split(first)[0])
        self._waiting = [first]
        form = _calls.new(_abi.saccade_frame_format)
        self._layout.fill_format(form)
        form.fps = float(self._rate)
        handle.call("open_frames", ctypes.byref(form), prefix="Stream: ")
        self._takes_device_frames = handle.geometry().backend == "cuda"

    def fetch(self) -> None:
        """Ask the iterable for the next frame."""
        if self._waiting or self._ended:
            return
        self.asking = threading.get_ident()
        try:
            self._waiting.append(next(self._frames))
        except StopIteration:
            self._ended = True
        finally:
            self.asking = None

    def take(self, handle: Handle, taker: Taker, timeout_ms: int, addresses: Sequence[int]) -> int:
        """Push the frame at hand, and give the emission if one is due: LATER if none is."""
        del timeout_ms
        if self._waiting:
            self._push(handle, self._waiting.pop())
            if not self._due.value:
                return _abi.SACCADE_LATER
        elif self._ended and not self._end_is_told:
            self._end_is_told = True
            handle.call("push_end")
        return taker.take(0, addresses)

    def _push(self, handle: Handle, item: Any) -> None:
        image, seconds, boxes = _frames.split(item)
        exact = self._count * 10**9 / self._rate if seconds is None else seconds * 10**9
        if not math.isfinite(exact) or abs(exact) > _MOST_NS:
            came = f"at input_rate={float(self._rate):g} " if seconds is None else ""
            raise ValueError(
                f"Stream: frame {self._count}: its time {came}is {float(exact) / 1e9:g} s, which can't be counted in "
                f"nanoseconds; times are seconds up to {_MOST_NS / 1e9:.2g}, not milliseconds or nanoseconds"
            )
        pts_ns = round(exact)
        if self._last_pts_ns is not None and pts_ns <= self._last_pts_ns:
            raise ValueError(
                f"Stream: frame {self._count}: its time {pts_ns / 1e9:g} s is not after that of the frame before, "
                f"{self._last_pts_ns / 1e9:g} s; times rise, and either all frames have one or none"
            )
        self._last_pts_ns = pts_ns
        frame = _calls.new(_abi.saccade_frame)
        kept = self._layout.fill_frame(frame, image, self._count, self._takes_device_frames)
        frame.pts_ns = pts_ns
        if boxes is not None:
            differs = _frames.boxes_of(boxes, self._count)
            frame.may_differ, frame.may_differ_count = _arrays.address(differs), len(differs)
        handle.call("push", ctypes.byref(frame), ctypes.byref(self._due), prefix=f"Stream: frame {self._count}: ")
        del kept  # until here: what the addresses point to
        self._count += 1

    def describe(self) -> str:
        """The type that frames come from."""
        return f"frames of a {type(self.original).__name__}"


def lasting(name: str) -> str:
    """A name that means the same after os.chdir(): the path of a file, or of numbered pictures, begins at the root."""
    if name == "-" or name.startswith(_NO_PATHS):
        return name
    scheme = "file:" if name.startswith("file:") and not _exists(name) else ""
    path = name.removeprefix(scheme)
    pictures = ":" not in path and any(sign in path for sign in "%*?[")
    return f"{scheme}{Path(path).absolute()}" if pictures or _exists(path) else name


_exists = os.path.exists  # Path.exists() raises OSError for a long URL


def source_of(source: Any, settings: Mapping[str, Any]) -> Source:
    """Read the argument `source` of a stream.

    Raises:
        TypeError: It is neither a name nor frames.
        ValueError: The name is empty, or an option doesn't go with frames.
    """
    if isinstance(source, (str, bytes, os.PathLike)):
        name = os.fsdecode(os.fspath(source))
        if isinstance(source, bytes) and ("\0" in name or len(source) > _MOST_PATH_BYTES):
            raise ValueError("Stream: source is the bytes of a file; write them to a file and pass its path")
        if not name:
            raise ValueError("Stream: source is empty; pass a path, a URL or 'test://box'")
        name = lasting(name)
        return NamedSource(name, _calls.c_text(name, "Stream: source"))
    if isinstance(source, int):
        raise TypeError(f"Stream: source takes a name, not {source!r}; a camera is '/dev/video{int(source)}'")
    is_file = hasattr(source, "read") and hasattr(source, "readline")
    if is_file or isinstance(source, (bytearray, memoryview)):
        named = getattr(source, "name", None)
        path = repr(without_secrets(named)) if isinstance(named, str) and named else "of a file that holds them"
        raise TypeError(f"Stream: source is the bytes of a {type(source).__name__}; pass the path: {path}")
    if hasattr(source, "shape") and hasattr(source, "dtype"):
        _refuse_one_image(source)
    if isinstance(source, Mapping) or (not isinstance(source, Iterable) and not hasattr(source, "__getitem__")):
        raise TypeError(
            f"Stream: source takes a path, a URL or an iterable of tensors or arrays, not {type(source).__name__}"
        )
    for name, value in settings.items():
        option = table().get(name)
        if option is None or option.group != "Source" or name in _NAMES_OF_FRAMES:
            continue
        if value is None or value is False or (isinstance(value, str) and value == "auto"):  # says nothing
            continue
        raise ValueError(f"Stream: {name} is for videos that the library opens, not for frames; leave it out")
    return FrameSource(source, _rate(settings.get("input_rate")))


def _refuse_one_image(array: Any) -> None:
    """Raise ValueError for an array or a tensor whose first axis may be rows or channels rather than frames."""
    shape = tuple(array.shape)
    flat = len(shape) == 3 and (shape[0] in _CHANNELS or shape[2] in _CHANNELS)
    if len(shape) == 2 or flat:
        advice = "" if len(shape) == 2 else ", or list(frames) if its first axis counts gray frames"
        raise ValueError(
            f"Stream: source is one array {list(shape)}, which is an image and not a film; pass [image]{advice}"
        )


def _rate(value: Any) -> Fraction:
    if value is None:
        return _DEFAULT_RATE
    try:
        rate = Fraction(value) if isinstance(value, (str, float)) else Fraction(str(value))
    except (ValueError, ZeroDivisionError, OverflowError):
        rate = Fraction(0)
    if rate <= 0:
        raise ValueError(f"Stream: input_rate is frames a second, above 0, not {quoted(value)}")
    return rate
