"""What was checked and worked out of a tensor once, for the next one of its shape, strides, type and device."""

from __future__ import annotations

from typing import Any

from pysaccade._native._held import is_freed
from pysaccade._operators import _checks
from pysaccade.tensors._storage import Layout

Array = Any

_MOST = 256
_Most = _checks.Most
_plain: list[Any] = []  # torch's own classes of tensors, once there was one
_watched: Any = None  # _recording's, from then on


class Known:
    """Of images of one kind: how their levels lie, and all that was packed for them."""

    __slots__ = ("batched", "count", "element_bytes", "layout", "likes", "odd", "packed", "shape", "size", "ways")

    def __init__(self, layout: Layout, count: int, odd: int, batched: bool, element_bytes: int) -> None:
        """Begin without knowing of any call."""
        self.element_bytes = element_bytes
        self.layout, self.count, self.odd, self.batched = layout, count, odd, batched
        self.size = layout.shape[-2:]
        self.shape = layout.shape if batched else layout.shape[1:]  # as the image was given
        self.likes: Any = None  # models of the levels of generate_mipmaps()
        self.packed: dict[tuple[int, int], bytes] = {}  # the library's struct, by the addresses in it
        self.ways: dict[Any, Any] = {}  # of sampling, by the plan's shapes (_way.py)

    def levels_at(self, base: int, rest: int) -> bytes:
        """Layout.pack(), kept in `packed`: allocators give the same addresses again and again."""
        if len(self.packed) >= _MOST:
            self.packed.clear()
        found = self.packed[base, rest] = self.layout.pack(base, rest, self.element_bytes)
        return found


class Table:
    """By kind of image, number of levels as it was asked for, and the word for odd sizes."""

    def __init__(self) -> None:
        self._known: dict[Any, Known] = {}

    def get(self, image: Any, levels: Any, odd: Any) -> tuple[Known, int] | None:
        """What is known, and the image's address; None: nothing, somebody looks on, or C can't read it in place."""
        if image.__class__ not in _plain or _watched():
            return None
        if odd.__class__ is not str:
            return None
        if levels.__class__ is not int and levels is not None:
            if levels.__class__ is not _Most:
                return None
            levels = -levels
        try:
            known = self._known.get((image.shape, image.stride(), image.dtype, image.device, levels, odd))
            if known is None or image.is_neg():
                return None
            base = image.data_ptr()
        except RuntimeError:  # a sparse or nested tensor has no strides, or no address
            return None
        if not base or base % known.element_bytes or is_freed(image, base):
            return None
        return known, base

    def add(self, image: Any, levels: Any, odd: str, known: Known) -> Known | None:
        """Keep it, unless somebody looks on."""
        global _watched  # noqa: PLW0603 (torch is loaded by the first tensor)
        recording = _checks.recording()
        if image.__class__ not in recording._PLAIN or recording.is_watched():
            return None
        _watched = recording.is_watched
        if not _plain:
            _plain.extend(recording._PLAIN)
        if len(self._known) >= _MOST:
            self._known.clear()
        if levels.__class__ is _Most:  # not the same as who asks for so many
            levels = -levels
        self._known[image.shape, image.stride(), image.dtype, image.device, levels, odd] = known
        return known
