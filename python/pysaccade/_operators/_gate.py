"""The gate of every array on its way into the C interface, which reads memory by addresses and whole strides alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # torch.Tensor or numpy.ndarray


def readable(array: Array, pairs: bool = False) -> Array:
    """Give the array itself where C can read it in place, else a copy; autograd sees that of a tensor.

    Copied are: tensors with torch's negative bit, or that stand for zeros without memory; memory that isn't aligned for
    its type; NumPy strides that are no whole elements (fields of packed records); images [.., H, W] one channel of
    which spans more than 2^31 elements; `pairs`: a last axis with gaps.
    """
    if isinstance(array, np.ndarray):
        return array if _is_plain(array, pairs) else array.copy(order="C")
    at = array.data_ptr()  # 0: without memory
    if at and not at & 7 and not array.is_neg() and array.is_contiguous():
        return array
    if array.is_meta:
        return array
    if array._is_zerotensor():
        array = array.new_zeros(array.shape)
    if array.is_neg():
        array = array.resolve_neg()
    if not array.is_contiguous() and (
        _is_wide(array.shape, array.stride()) or (pairs and array.ndim and array.stride(-1) != 1)
    ):
        array = array.contiguous()
    return array.clone() if array.data_ptr() % array.element_size() else array


_MOST_SPAN = (1 << 31) - 1  # elements from the first to the last of a channel: view_of() in capi/tensor/tensor_call.cpp


def _is_wide(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the last two axes span more elements than C can tell apart."""
    spans = [(size - 1) * abs(step) for size, step in zip(shape[-2:], strides[-2:], strict=True)]
    return len(shape) > 2 and sum(spans) > _MOST_SPAN and 0 not in shape


def _is_plain(array: Any, pairs: bool) -> bool:
    step = array.itemsize
    if not array.flags.aligned or any(stride % step for stride in array.strides):
        return False
    if not array.flags.c_contiguous and _is_wide(array.shape, [stride // step for stride in array.strides]):
        return False
    return not pairs or array.ndim == 0 or array.strides[-1] == step
