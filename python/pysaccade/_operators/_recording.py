"""When torch must see a call as an operator: autograd, torch.compile, transforms. Else the library is called directly.

An operator costs 5 to 12 us of Python and dispatch, the call itself one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.optim.optimizer import register_optimizer_step_post_hook

from pysaccade._native._arguments import warn
from pysaccade._native._library import load
from pysaccade._operators import _operator_rules  # noqa: F401  (registers the operators)

_PLAIN = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling
is_grad_enabled = torch.is_grad_enabled
# Both are internals of torch, stable since 2.0. Where one is missing, every call goes through the operators.
_unpack_dual: Any = forward_ad.unpack_dual
_functorch: Any = getattr(torch._C, "_functorch", None)
_transform = getattr(_functorch, "peek_interpreter_stack", lambda: True)
_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)
# Of torch.jit.trace and of the exporters that stand on it.
_traces: Any = getattr(torch._C, "_is_tracing", lambda: False)


def is_intercepted() -> bool:
    """Whether a compiler, a functorch transform, a dispatch mode, forward-mode autograd or torch.jit.trace is on."""
    return _is_compiling() or _transform() is not None or _modes() > 0 or forward_ad._current_level >= 0 or _traces()


# ---- Memory ----------------------------------------------------------------------------------------------------------


def normal_mode() -> AbstractContextManager[Any]:
    """Leave torch.inference_mode() for tensors that later calls read: autograd can't save inference tensors."""
    if _is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)


def _one_by_one(tensors: tuple[Tensor, ...]) -> None:
    for tensor in tensors:
        if not tensor.is_inference():
            torch.autograd.graph.increment_version(tensor)


def _incrementer() -> Any:
    """Find what counts writes to several tensors at once, where this torch has it."""
    found: Any = getattr(torch._C, "_increment_version", None)
    try:
        found((torch.empty(0, device="cpu"),))
    except (TypeError, RuntimeError):
        return _one_by_one
    return found


count_write = _incrementer()  # (tensors,): the library wrote them, and autograd may have saved what they held


_steps = [0]  # of optimizers whose writes torch doesn't count: those with fused=True


def _count_steps(optimizer: Any, *_: Any) -> None:
    if any(group.get("fused") for group in optimizer.param_groups):
        _steps[0] += 1


register_optimizer_step_post_hook(_count_steps)


class _Stepped:
    """Counts the writes to a parameter: torch's count, and steps of fused optimizers."""

    __slots__ = ("_parameter",)

    def __init__(self, parameter: Tensor) -> None:
        self._parameter = parameter

    @property
    def _version(self) -> int:
        return self._parameter._version + _steps[0]


_uncounted = torch.empty(0, device="cpu")


def counter_of(tensor: Tensor) -> tuple[Any, int]:
    """Whose `_version` tells that a tensor was written, and what it is now. Inference tensors have none."""
    try:
        version = tensor._version
    except RuntimeError:
        return _uncounted, _uncounted._version
    if tensor.__class__ is torch.nn.Parameter or (tensor.requires_grad and tensor.is_leaf):
        return _Stepped(tensor), version + _steps[0]
    return tensor, version


# ---- What intercepts torch's calls -----------------------------------------------------------------------------------


def _has_tangent(tensor: Any) -> bool:
    """Whether a tensor, or what torch.func wraps in it, carries a forward-mode derivative."""
    while True:
        try:
            if _unpack_dual(tensor).tangent is not None:
                return True
        except RuntimeError:  # vmap's tensors have none themselves
            pass
        if _functorch is None or not (_functorch.is_batchedtensor(tensor) or _functorch.is_gradtrackingtensor(tensor)):
            return False
        tensor = _functorch.get_unwrapped(tensor)


def tensor_of(numbers: Any, dtype: torch.dtype | None, device: Any) -> Tensor:
    """Numbers of a caller as a tensor, by a call that torch.compile can trace; f32 unless `dtype` is given."""
    return torch.as_tensor(numbers, dtype=dtype or torch.float32, device=device)


def _is_tracked(tensor: Any) -> bool:
    """Whether torch.func.grad, vjp or jacrev differentiates by a tensor."""
    while _functorch is not None:
        if _functorch.is_gradtrackingtensor(tensor):
            return bool(tensor.requires_grad)
        if not _functorch.is_batchedtensor(tensor):
            break
        tensor = _functorch.get_unwrapped(tensor)
    return False


def refuse_transforms(what: str, *tensors: Tensor | None) -> None:
    """Raise RuntimeError for tensors by which a transform differentiates that our operators have no rule for."""
    if _is_compiling():
        return
    # torch would take a derivative of ours for zero
    if forward_ad._current_level >= 0 and any(tensor is not None and _has_tangent(tensor) for tensor in tensors):
        raise RuntimeError(
            f"pysaccade: {what} has no forward-mode derivative (torch.func.jvp, jacfwd and forward_ad ask for one); "
            "use autograd's backward, or pysaccade.reference"
        )
    if _transform() is not None and any(tensor is not None and _is_tracked(tensor) for tensor in tensors):
        raise RuntimeError(
            f"pysaccade: torch.func.grad, vjp and jacrev can't differentiate {what}; use torch.autograd.grad, or "
            "pysaccade.reference"
        )


def refuse_script(who: str) -> None:
    """Raise RuntimeError under torch.jit.trace, where sizes are tensors, and no numbers for the library."""
    if _traces() and not _is_compiling():
        raise RuntimeError(
            f"{who}: torch.jit.trace, and the ONNX exporter that stands on it, can't record this; use torch.compile or "
            "torch.export"
        )


def is_traced(*tensors: Tensor | None) -> bool:
    """Whether a call must be an operator: is_intercepted(), or a tensor is of a subclass or on the meta device."""
    if is_intercepted():
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
    if tensor.is_cpu or tensor.is_meta:
        return True
    if tensor.is_cuda and _has_kernels(tensor.get_device()):
        return True
    kind = tensor.device.type
    if kind not in _warned_of:
        _warned_of.add(kind)
        warn(f"pysaccade: no kernels for device '{kind}'; pysaccade.reference is used, which is slow")
    return False


_warned_of: set[str] = set()
_gpus: dict[int, bool] = {}


def _has_kernels(index: int) -> bool:
    """Whether the library works on a GPU: that may be too old, or the build be one without CUDA."""
    works = _gpus.get(index)
    if works is None:
        works = _gpus[index] = bool(load().saccade_backend_check(b"cuda", index) == 0)
    return works


_has_kernels._dynamo_marked_constant = True  # type: ignore[attr-defined]  # as facts_of() in _lattice_abi.py
