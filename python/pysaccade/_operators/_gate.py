"""The gate of every array on its way into the C interface, which reads memory by addresses and whole strides alone."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # torch.Tensor or numpy.ndarray


def readable(array: Array, pairs: bool = False) -> Array:
    """Give the array itself where C can read it in place, else a copy; autograd sees that of a tensor.

    Copied are: tensors with torch's negative bit, or that stand for zeros without memory; memory that isn't aligned for
    its type; NumPy strides that are no whole elements (fields of packed records); `pairs`: a last axis with gaps.

    Raises:
        ValueError: The tensor's memory was freed.
    """
    if isinstance(array, np.ndarray):
        return array if _is_plain(array, pairs) else array.copy(order="C")
    if array.is_meta:
        return array
    if array.is_neg():
        array = array.resolve_neg()
    if array._is_zerotensor():
        array = array.new_zeros(array.shape)
    if pairs and array.ndim and array.stride(-1) != 1:
        array = array.contiguous()
    address = array.data_ptr()
    if address == 0 and array.numel():
        raise ValueError(
            f"pysaccade: the memory of a tensor {list(array.shape)} was freed, as untyped_storage().resize_(0) does"
        )
    return array.clone() if address % array.element_size() else array


def _is_plain(array: Any, pairs: bool) -> bool:
    step = array.itemsize
    if not array.flags.aligned or any(stride % step for stride in array.strides):
        return False
    return not pairs or array.ndim == 0 or array.strides[-1] == step
