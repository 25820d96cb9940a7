"""Whether a tensor still has its memory: `untyped_storage().resize_(0)` frees it, and the tensor doesn't know."""

from __future__ import annotations

import sys
from typing import Any

FREED = "was freed, as untyped_storage().resize_(0) does"
HIGH = 1 << 40  # no tensor begins so far behind the beginning of its storage

_plain: tuple[Any, ...] = ()  # torch's own classes of tensors, and what it says, once there was a tensor
_is_compiling: Any = None


def is_freed(tensor: Any, address: int) -> bool:
    """Whether the elements of a tensor at this address have no memory: they lie behind address 0 then."""
    if address >= HIGH:
        return False
    if address:
        offset = tensor.storage_offset()
        if not offset or address != offset * tensor.element_size():
            return False
    return bool(tensor.numel())


def require_memory(tensor: Any, who: str, name: str) -> None:
    """Raise ValueError for a tensor whose memory was freed: torch itself may read it, and end the process.

    One that is traced, wrapped or elsewhere has no memory of its own, and passes.
    """
    if not _plain:
        _load()
    if tensor.__class__ not in _plain or _is_compiling():
        return
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # a transform's
        return
    if address >= HIGH or (address and not tensor.storage_offset()) or not is_freed(tensor, address):
        return
    if tensor.device.type in {"cpu", "cuda"} and not tensor._is_zerotensor():
        raise ValueError(f"{who}: the memory of {name} {list(tensor.shape)} {FREED}")


def _load() -> None:
    global _plain, _is_compiling
    torch: Any = sys.modules["torch"]
    _plain, _is_compiling = (torch.Tensor, torch.nn.Parameter), torch.compiler.is_compiling
