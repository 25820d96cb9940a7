"""Where arrays lie in memory: what is written must lie apart from what is read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

Array = Any  # torch.Tensor or numpy.ndarray


def _facts(array: Array) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """(address, shape, strides in bytes)."""
    if isinstance(array, np.ndarray):
        return int(array.__array_interface__["data"][0]), array.shape, array.strides
    size = array.element_size()
    return array.data_ptr(), tuple(array.shape), tuple(step * size for step in array.stride())


def _range(array: Array) -> tuple[int, int]:
    """The bytes from the first to behind the last one that an array reaches."""
    begin, shape, strides = _facts(array)
    if math.prod(shape) == 0:
        return begin, begin
    ends = [(length - 1) * step for length, step in zip(shape, strides, strict=True)]
    return begin + sum(end for end in ends if end < 0), begin + sum(end for end in ends if end > 0) + int(
        array.itemsize
    )


def overlaps_itself(array: Array) -> bool:
    """Whether two elements may share a byte, as those of expand() do."""
    _, shape, strides = _facts(array)
    if math.prod(shape) == 0:
        return False
    reach = int(array.itemsize)
    for step, length in sorted((abs(step), length) for step, length in zip(strides, shape, strict=True) if length > 1):
        if step < reach:
            return True
        reach += step * (length - 1)
    return False


def require_apart(out: Array, read: Iterable[Array | None], who: str) -> None:
    """Raise ValueError where `out` shares memory with itself or with what is read."""
    if not isinstance(out, np.ndarray) and (out.is_meta or type(out).__name__ == "FakeTensor"):
        return
    if overlaps_itself(out):
        raise ValueError(f"{who}: out shares memory between its elements, as expand() makes it; pass out.contiguous()")
    begin, end = _range(out)
    for array in read:
        if array is None or (not isinstance(array, np.ndarray) and array.device != out.device):
            continue
        its_begin, its_end = _range(array)
        if begin < its_end and its_begin < end:
            raise ValueError(f"{who}: out shares memory with what is sampled, or where; pass memory of its own")
