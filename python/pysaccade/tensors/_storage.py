"""The mip levels of one image in one piece of memory, and the library's struct of them."""

from __future__ import annotations

import struct
import sys
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pysaccade._operators import _checks, _tensor_abi

Array = Any
Shape = tuple[int, int, int, int]
_ALIGNMENT = 64  # elements between beginnings of levels: vectors of any type may be read there


class Layout(NamedTuple):
    """Where levels 1.. lie in one flat array, in elements, and the library's struct of all levels without addresses."""

    total: int
    starts: tuple[int, ...]
    shapes: tuple[Shape, ...]
    packed: struct.Struct  # address and rest of each level, level 0 first
    rests: tuple[bytes, ...]
    levels: int
    dense: int  # elements of levels 1.. without what lies between them
    shape: tuple[int, ...]  # of level 0, [B,C,H,W]
    strides: tuple[int, ...]  # its, in elements

    def pack(self, base: int, rest: int, element_bytes: int) -> bytes:
        """Fill in addresses: of level 0, and of the flat array with the others."""
        fields: list[Any] = [base, self.rests[0]]
        for start, tail in zip(self.starts, self.rests[1:], strict=True):
            fields.append(rest + start * element_bytes)
            fields.append(tail)
        return self.packed.pack(*fields)

    def views(self, flat: Array) -> list[Array]:
        """Levels 1.. [B,C,h,w] in the flat array."""
        return [
            flat[start : start + shape[0] * shape[1] * shape[2] * shape[3]].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


_REST = struct.Struct(_tensor_abi._ARRAY.format.replace("@P", "="))  # saccade_array without its address


def _contiguous(shape: Shape) -> tuple[int, int, int, int]:
    _, channels, height, width = shape
    return channels * height * width, height * width, width, 1


@lru_cache(maxsize=256)
def layout_of(shape: Shape, strides: tuple[int, ...], code: int, levels: int, odd: int) -> Layout:
    """The layout for an image [B,C,H,W] of these strides (elements) and this dtype code of the C interface."""
    batch, channels, height, width = shape
    starts: list[int] = []
    shapes: list[Shape] = []
    rests = [_REST.pack(*shape, 1, *strides, 0, code, 0)]
    total = dense = 0
    for level in range(1, levels):
        one = (batch, channels, _checks.extent(height, level, odd), _checks.extent(width, level, odd))
        starts.append(total)
        shapes.append(one)
        rests.append(_REST.pack(*one, 1, *_contiguous(one), 0, code, 0))
        elements = batch * channels * one[2] * one[3]
        dense += elements
        total += -(-elements // _ALIGNMENT) * _ALIGNMENT
    packed = struct.Struct("=" + f"Q{_REST.size}s" * levels)
    places = tuple(starts), tuple(shapes), packed, tuple(rests)
    return Layout(total, *places, levels, dense, tuple(shape), tuple(strides))


def element_strides(image: Array) -> tuple[int, ...]:
    """Strides of a tensor or an array, in elements."""
    if hasattr(image, "data_ptr"):
        return tuple(image.stride())
    return tuple(stride // image.itemsize for stride in image.strides)


class Storage:
    """Levels 1.. of an image [B,C,H,W], made by the library at once."""

    __slots__ = ("_levels", "flat", "image", "keeps_memory", "layout", "packed", "workspace")

    def __init__(self, image: Array, levels: int, odd: int) -> None:
        """The image, which C can read as it lies, stays level 0 itself: it is not copied."""
        abi = _tensor_abi
        is_tensor = hasattr(image, "data_ptr")
        self.layout = layout = layout_of(image.shape, element_strides(image), abi.dtype_code(image), levels, odd)
        self.image = image
        self.flat = image.new_empty(layout.total) if is_tensor else np.empty(layout.total, image.dtype)
        self.packed = layout.pack(abi.address(image) or 0, abi.address(self.flat) or 0, image.itemsize)
        self.keeps_memory: Any = image.untyped_storage() if is_tensor else image  # `packed` has its address
        self.workspace: Array | None = None  # kept between calls by keep_workspace()
        self._levels: list[Array] | None = None
        if layout.total:
            self.fill(odd)

    def fill(self, odd: int) -> None:
        """Make levels 1.. from level 0."""
        workspace = self._workspace() if self.workspace is None else self.workspace
        _tensor_abi.reduce_packed(self.image, self.packed, self.layout.levels, odd, workspace)

    def keep_workspace(self, odd: int) -> None:
        """Keep what the library needs from one update of these levels to the next."""
        self.workspace = self._workspace()
        if self.workspace is not None:
            self.fill(odd)

    def _workspace(self) -> Array | None:
        size = _tensor_abi.reduce_workspace_bytes(self.image, self.layout.levels)
        if not size:
            return None
        if not hasattr(self.image, "data_ptr"):
            return np.empty(size, np.uint8)
        torch = sys.modules["torch"]
        return torch.empty(size, dtype=torch.uint8, device=self.image.device)

    @property
    def levels(self) -> list[Array]:
        """All levels, [B,C,h,w], level 0 being the image itself. Views: nothing is copied."""
        if self._levels is None:
            image = self.image
            if getattr(image, "requires_grad", False):
                image = image.detach()
            self._levels = [image, *self.layout.views(self.flat)]
        return self._levels
