"""Where the mip levels of an image lie, and the library's struct of them: worked out once for images of one kind."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, NamedTuple

from pysaccade._operators import _tensor_abi

Array = Any
Shape = tuple[int, ...]
_ALIGNMENT = 64  # elements between beginnings of levels: vectors of any type may be read there


def extent(texels: int, level: int, odd: int) -> int:
    """Texels of a level along an axis of `texels`."""
    return texels >> level if odd == _tensor_abi.FLOOR else -(-texels >> level)


class Layout(NamedTuple):
    """Levels 1.. in one flat array, in elements, and the library's struct of all levels without addresses."""

    total: int
    starts: tuple[int, ...]
    starts_bytes: tuple[int, ...]
    shapes: tuple[Shape, ...]  # with the axes of the image
    steps: tuple[Shape, ...]  # strides of levels without gaps
    packed: struct.Struct  # address and rest of each level, level 0 first
    rests: tuple[bytes | None, ...]  # and None where an address belongs
    levels: int
    dense: int  # elements of levels 1.. without what lies between them
    shape: Shape  # of level 0, [B,C,H,W] or [C,H,W]
    strides: Shape  # its, in elements

    def pack(self, base: int, flat: int) -> bytes:
        """Fill in addresses: of level 0, and of the flat array with the others."""
        return self.pack_apart(base, [flat + start for start in self.starts_bytes])

    def pack_apart(self, base: int, levels: list[int]) -> bytes:
        """Fill in addresses: of level 0, and of each other level."""
        fields: list[Any] = [base, *self.rests]
        fields[2::2] = levels
        return self.packed.pack(*fields)

    def views(self, flat: Array) -> list[Array]:
        """Levels 1.. in the flat array."""
        if hasattr(flat, "as_strided"):
            at = [flat.storage_offset() + start for start in self.starts]
            return [flat.as_strided(*each) for each in zip(self.shapes, self.steps, at, strict=True)]
        ends = [
            start + shape[0] * step[0] for start, shape, step in zip(self.starts, self.shapes, self.steps, strict=True)
        ]
        places = zip(self.starts, ends, self.shapes, strict=True)
        return [flat[start:end].reshape(shape) for start, end, shape in places]


@lru_cache(maxsize=256)
def layout_of(shape: Shape, strides: Shape, dtype: Any, levels: int, odd: int) -> Layout:
    """The layout for an image [B,C,H,W] or [C,H,W] of these strides (elements) and this type."""
    *leading, height, width = shape
    starts: list[int] = []
    shapes: list[Shape] = []
    steps: list[Shape] = []
    rests: list[bytes | None] = [_tensor_abi.rest_of(shape, strides, dtype, 4)]
    total = dense = 0
    for level in range(1, levels):
        rows, columns = extent(height, level, odd), extent(width, level, odd)
        starts.append(total)
        shapes.append((*leading, rows, columns))
        texels = rows * columns
        channels = leading[-1]
        steps.append((channels * texels, texels, columns, 1)[-len(shape) :])
        rests += [None, _tensor_abi.rest_of(shapes[-1], steps[-1], dtype, 4)]
        elements = texels
        for each in leading:
            elements *= each
        dense += elements
        total += -(-elements // _ALIGNMENT) * _ALIGNMENT
    packed = struct.Struct("=" + f"Q{_tensor_abi.REST_BYTES}s" * levels)
    starts_bytes = tuple(start * dtype.itemsize for start in starts)
    places = tuple(starts), starts_bytes, tuple(shapes), tuple(steps), packed, tuple(rests)
    return Layout(total, *places, levels, dense, tuple(shape), tuple(strides))
