"""Where a tensor lies, for the C interface: what every call asks for first. Needs torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pysaccade._operators import _tensor_abi as abi

_threads = torch.get_num_threads
_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)
_MOST_STREAMS = 4096
_places: dict[tuple[int, int], bytes] = {}


def place_of(tensor: Tensor) -> bytes:
    """saccade_place: the host with torch's own number of threads, or a GPU and its current stream."""
    if not tensor.is_cuda:
        return abi._host(_threads())
    index = tensor.get_device()
    key = (index, _stream(index))
    place = _places.get(key)
    if place is None:
        if len(_places) >= _MOST_STREAMS:
            _places.clear()
        place = _places[key] = abi._PLACE.pack(abi._PLACE.size, key[1], 1, index, 1, 0)
    return place
