"""Where tensors shall go, and as what: torch's devices and types, under the names that a stream knows, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade._native._arguments import quoted
from pysaccade._native._arrays import DTYPES, import_torch
from pysaccade._native._errors import UnavailableError


def target_of(device: Any, dtype: Any, who: str) -> tuple[Any, Any]:
    """(torch.device or None, torch.dtype or None). A dtype may stand where the device does, as in torch's `to`.

    Raises:
        TypeError, ValueError: They are none.
        UnavailableError: torch is missing, or finds no such device.
    """
    torch = import_torch()
    if isinstance(device, torch.dtype) and dtype is None:
        device, dtype = None, device
    return _device(torch, device, who), _dtype(torch, dtype, who)


def _device(torch: Any, device: Any, who: str) -> Any:
    if device is None:
        return None
    if not isinstance(device, (str, int, torch.device)) or isinstance(device, bool):
        raise TypeError(f"{who}: device takes 'cpu', 'cuda', 'cuda:N' or a torch.device, not {quoted(device)}")
    try:
        found = torch.device(device)
    except RuntimeError:
        raise ValueError(f"{who}: device is 'cpu', 'cuda', 'cuda:N' or a torch.device, not {quoted(device)}") from None
    if found.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (found.index or 0) >= count:
            raise UnavailableError(f"{who}: there is no device {quoted(str(found))}; torch finds {count} GPUs")
    elif found.type not in ("cpu", "meta"):
        try:
            torch.empty(0, device=found)
        except (RuntimeError, AssertionError, ImportError):
            raise UnavailableError(f"{who}: this torch has no device {quoted(str(found))}") from None
    return found


def _dtype(torch: Any, dtype: Any, who: str) -> Any:
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype
    name = DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype
    if not isinstance(name, str):
        try:
            name = np.dtype(name).name
        except TypeError:
            raise TypeError(f"{who}: dtype takes a torch.dtype or its name, not {quoted(dtype)}") from None
    found = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{who}: dtype is uint8, float16, bfloat16 or float32, not {quoted(dtype)}")
    return found
