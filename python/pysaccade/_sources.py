"""What a stream reads: names that the library opens."""

from __future__ import annotations

import os
from typing import Any, Protocol

from pysaccade import _native
from pysaccade._handle import Handle
from pysaccade._take import Taker


class Source(Protocol):
    """Where frames come from."""

    original: Any

    def open(self, handle: Handle, *, on_this_thread: bool) -> None:
        """Open it, and wait for the first frame."""

    def take(self, handle: Handle, taker: Taker, timeout_ms: int, addresses: tuple[int, ...]) -> int:
        """Taker.take."""

    def describe(self) -> str:
        """It, in a few words."""


class NamedSource:
    """What the library opens by itself."""

    def __init__(self, original: Any, uri: bytes) -> None:
        self.original = original
        self._uri = uri

    def open(self, handle: Handle, *, on_this_thread: bool) -> None:
        """Open it, and wait for the first frame."""
        handle.open(self._uri, on_this_thread=on_this_thread)

    def take(self, handle: Handle, taker: Taker, timeout_ms: int, addresses: tuple[int, ...]) -> int:
        """Taker.take."""
        del handle
        return taker.take(timeout_ms, addresses)

    def describe(self) -> str:
        """The name."""
        return repr(os.fsdecode(self._uri))


def source_of(source: Any) -> Source:
    """Read the argument `source` of a stream.

    Raises:
        TypeError: It is no name.
        ValueError: The name is empty.
    """
    if isinstance(source, (str, bytes, os.PathLike)):
        name = os.fsdecode(os.fspath(source))
        if not name:
            raise ValueError("Stream: source is empty; pass a path, a URL or 'test://box'")
        return NamedSource(source, _native.c_text(name, "Stream: source"))
    if isinstance(source, int):
        raise TypeError(f"Stream: source takes a name, not {source!r}; a camera is '/dev/video{int(source)}'")
    raise TypeError(f"Stream: source takes a path or a URL, not {type(source).__name__}")
