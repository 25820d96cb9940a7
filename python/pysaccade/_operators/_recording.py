"""When torch must see a call as an operator: autograd, torch.compile, transforms. Else the library is called directly.

An operator costs 5 to 12 us of Python and dispatch, the call itself one.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from pysaccade._operators import _operator_rules  # noqa: F401  (registers the operators)

_PLAIN = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling
# Both are internals of torch, stable since 2.0. Where one is missing, every call goes through the operators.
_transform = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", lambda: True)
_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)


def is_watched() -> bool:
    """Whether a compiler, a functorch transform or a dispatch mode looks on."""
    return _is_compiling() or _transform() is not None or _modes() > 0


def is_traced(*tensors: Tensor | None) -> bool:
    """Whether someone beside autograd looks on: a compiler, a transform, a dispatch mode, a subclass, a meta tensor."""
    if is_watched():
        return True
    for tensor in tensors:  # no generator: a microsecond each
        if tensor is not None and (type(tensor) not in _PLAIN or tensor.is_meta):
            return True
    return False


def needs_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd records this call."""
    if not torch.is_grad_enabled():
        return False
    for tensor in tensors:
        if tensor is not None and tensor.requires_grad:
            return True
    return False


def is_native(tensor: Tensor) -> bool:
    """Whether the library works on this tensor's device. Others are told of once, and use pysaccade.reference."""
    kind = tensor.device.type
    if kind in {"cpu", "cuda", "meta"}:
        return True
    if kind not in _told:
        _told.add(kind)
        warnings.warn(
            f"pysaccade: no kernels for device '{kind}'; pysaccade.reference is used, which is slow", stacklevel=3
        )
    return False


_told: set[str] = set()
