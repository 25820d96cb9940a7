"""The mip levels of one image in one piece of memory, and how the library is told of them.

What depends on shapes alone is worked out once a shape: a pyramid then costs one allocation and one call.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pysaccade._operators import _checks, _tensor_abi

Array = Any
Shape = tuple[int, int, int, int]
_WITHOUT_WORKSPACE = 7  # levels
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
    workspace: bool  # whether the library needs one
    shape: tuple[int, ...]  # of level 0, [B,C,H,W]
    strides: tuple[int, ...]  # its, in elements

    def pack(self, base: int, rest: int, element_bytes: int) -> bytes:
        """Fill in addresses: of level 0, and of the flat array with the others."""
        fields: list[Any] = [base, self.rests[0]]
        for start, tail in zip(self.starts, self.rests[1:], strict=True):
            fields.append(rest + start * element_bytes)
            fields.append(tail)
        return self.packed.pack(*fields)

    def pack_apart(self, addresses: list[int]) -> bytes:
        """Fill in addresses, of level 0 and of each other level."""
        return self.packed.pack(*[field for pair in zip(addresses, self.rests, strict=True) for field in pair])

    def views(self, flat: Array) -> list[Array]:
        """Levels 1.. [B,C,h,w] in the flat array."""
        return [
            flat[start : start + shape[0] * shape[1] * shape[2] * shape[3]].reshape(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


REST = struct.Struct(_tensor_abi._ARRAY.format.replace("@P", "="))  # saccade_array without its address
_AT = struct.Struct(f"=Q{REST.size}s")
_new = object.__new__
pack_at = _AT.pack  # saccade_array from an address and its rest


def _contiguous(shape: Shape) -> tuple[int, int, int, int]:
    _, channels, height, width = shape
    return channels * height * width, height * width, width, 1


@lru_cache(maxsize=256)
def layout_of(shape: Shape, strides: tuple[int, ...], code: int, levels: int, odd: int) -> Layout:
    """The layout for an image [B,C,H,W] of these strides (elements) and this dtype code of the C interface."""
    batch, channels, height, width = shape
    starts: list[int] = []
    shapes: list[Shape] = []
    rests = [REST.pack(*shape, 1, *strides, 0, code, 0)]
    total = dense = 0
    for level in range(1, levels):
        one = (batch, channels, _checks.extent(height, level, odd), _checks.extent(width, level, odd))
        starts.append(total)
        shapes.append(one)
        rests.append(REST.pack(*one, 1, *_contiguous(one), 0, code, 0))
        elements = batch * channels * one[2] * one[3]
        dense += elements
        total += -(-elements // _ALIGNMENT) * _ALIGNMENT
    packed = struct.Struct("=" + f"Q{REST.size}s" * levels)
    places = tuple(starts), tuple(shapes), packed, tuple(rests)
    return Layout(total, *places, levels, dense, levels > _WITHOUT_WORKSPACE, tuple(shape), tuple(strides))


def element_strides(image: Array) -> tuple[int, ...]:
    """Strides of a tensor or an array, in elements."""
    if hasattr(image, "data_ptr"):
        return tuple(image.stride())
    return tuple(stride // image.itemsize for stride in image.strides)


class Storage:
    """Levels 1.. of an image [B,C,H,W], made by the library at once."""

    __slots__ = ("_levels", "alive", "flat", "flat_at", "image", "known", "layout", "packed", "workspace")

    def __init__(self, image: Array, levels: int, odd: int) -> None:
        """The image, which C can read as it lies, stays level 0 itself: it is not copied."""
        abi = _tensor_abi
        code = abi.dtype_code(image)
        if hasattr(image, "data_ptr"):
            layout = layout_of(image.shape, image.stride(), code, levels, odd)
            flat = image.new_empty(layout.total)
            base, rest, size = image.data_ptr(), flat.data_ptr(), image.element_size()
        else:
            size = image.itemsize
            layout = layout_of(image.shape, element_strides(image), code, levels, odd)
            flat = np.empty(layout.total, image.dtype)
            base, rest = image.ctypes.data, flat.ctypes.data
        self._set(image, flat, rest, layout, layout.pack(base, rest, size))
        if levels > 1 and layout.total:
            self.fill(odd)

    def _set(self, image: Array, flat: Array, flat_at: int, layout: Layout, packed: bytes) -> None:
        self.image = image
        self.alive: Any = image.untyped_storage() if hasattr(image, "data_ptr") else image  # `packed` has its address
        self.flat = flat
        self.flat_at = flat_at  # whose memory can be freed through a view of a level
        self.layout = layout
        self.packed = packed
        self.workspace: Array | None = None  # kept between calls by keep_workspace()
        self.known: Any = None  # _known.py's, of images of this kind
        self._levels: list[Array] | None = None

    @classmethod
    def of_known(cls, image: Array, base: int, known: Any) -> Storage:
        """Of a tensor [B,C,H,W] at an address, of which all is known; they need no workspace."""
        made = _new(cls)
        layout: Layout = known.layout
        made.flat = flat = image.new_empty(layout.total)
        made.flat_at = rest = flat.data_ptr()
        made.packed = packed = known.packed.get((base, rest)) or known.levels_at(base, rest)
        made.image, made.layout, made.known = image, layout, known
        made.workspace = made._levels = None
        made.alive = image.untyped_storage()
        if layout.total:
            abi = _tensor_abi
            count = layout.levels
            status = abi.raw_reduce(abi.place_of_tensor(image), packed, count, known.odd, None, abi.NO_BYTES)
            if status != 0:
                abi._fail(abi._open(), status)
        return made

    def fill(self, odd: int) -> None:
        """Make levels 1.. from level 0."""
        library = _tensor_abi._library or _tensor_abi._open()
        count = self.layout.levels
        workspace = self.workspace
        size = _tensor_abi.reduce_workspace_bytes(self.image, count) if workspace is None else workspace.nbytes
        if size and workspace is None:
            workspace = self._workspace(size)
        address = _tensor_abi._address(workspace)
        status = library.saccade_reduce(_tensor_abi.place_of(self.image), self.packed, count, odd, address, size)
        if status != 0:
            _tensor_abi._fail(library, status)

    def keep_workspace(self, odd: int) -> None:
        """Keep what the library needs from one update of these levels to the next."""
        size = _tensor_abi.reduce_workspace_bytes(self.image, self.layout.levels)
        if size:
            self.workspace = self._workspace(size)
            self.fill(odd)

    def _workspace(self, size: int) -> Array:
        if hasattr(self.image, "data_ptr"):
            import torch

            return torch.empty(size, dtype=torch.uint8, device=self.image.device)
        return np.empty(size, np.uint8)

    @property
    def levels(self) -> list[Array]:
        """All levels, [B,C,h,w], level 0 being the image itself. Views: nothing is copied."""
        if self._levels is None:
            image = self.image
            if getattr(image, "requires_grad", False):
                image = image.detach()
            self._levels = [image, *self.layout.views(self.flat)]
        return self._levels


def layout_for(image: Array, levels: int, odd: int) -> Layout:
    """The layout for a tensor [B,C,H,W]."""
    return layout_of(image.shape, image.stride(), _tensor_abi.dtype_code(image), levels, odd)
