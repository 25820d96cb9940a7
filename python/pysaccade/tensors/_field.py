"""The shortest way of a Gaussian field: what was checked and packed for one call serves all of the same shapes."""

from __future__ import annotations

import struct
from typing import Any

import torch
from torch import Tensor

from pysaccade._native._held import HIGH
from pysaccade._operators import _recording
from pysaccade._operators import _tensor_abi as abi
from pysaccade._operators._gate import readable
from pysaccade._operators._place import place_of
from pysaccade.tensors._gradients import is_seen
from pysaccade.tensors._way import DENSE, model

_PLAIN = _recording._PLAIN
_MOST = 256
_REST = struct.Struct("=6i")  # of saccade_gaussians, what follows on its size, addresses and the greatest q
_GAUSSIANS = struct.Struct(abi._GAUSSIANS.format.replace("6i", f"{_REST.size}s"))
_is_watched = _recording.is_watched
_is_grad_enabled = torch.is_grad_enabled
_empty_like: Any = torch.empty_like


class _Holding(bytes):
    """Packed addresses, and the tensors that lie there."""

    held: list[Tensor]


class FieldWay:
    """How the library is told of points and Gaussians of one shape, without gaps."""

    __slots__ = ("out", "rest", "workspace")

    def __init__(self, x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, out: Any) -> None:
        """Pack what is common; `out`: the shape of the result."""
        *leading, points, dimensions = x.shape
        channels = weight.shape[-1] if weight.ndim == mean.ndim else 1
        batch = leading[0] if leading else 1
        self.rest = _REST.pack(batch, points, mean.shape[-2], dimensions, channels, abi.dtype_code(x))
        self.out = model(out, x)
        gaussians = abi.Gaussians(x, mean, tril, weight if weight.ndim == mean.ndim else weight[:, None], float("inf"))
        self.workspace = gaussians.workspace_bytes() // x.element_size()

    def pack(self, x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, most_q: float) -> bytes:
        """saccade_gaussians."""
        addresses = x.data_ptr(), mean.data_ptr(), tril.data_ptr(), weight.data_ptr()
        if min(addresses) >= HIGH or not (
            x.storage_offset()
            or mean.storage_offset()
            or tril.storage_offset()
            or weight.storage_offset()
            or 0 in addresses
        ):
            return _GAUSSIANS.pack(abi._GAUSSIANS.size, *addresses, most_q, self.rest)
        copies = [readable(each) for each in (x, mean, tril, weight)]
        packed = _Holding(
            _GAUSSIANS.pack(abi._GAUSSIANS.size, *[each.data_ptr() for each in copies], most_q, self.rest)
        )
        packed.held = copies
        return packed

    def space(self, x: Tensor) -> Tensor | None:
        """Memory that the library needs for a call."""
        return x.new_empty(self.workspace) if self.workspace else None


_ways: dict[Any, FieldWay | None] = {}


def key_of(x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor) -> Any:
    """By what a way is found; None: someone looks on, or these are no plain tensors."""
    if _is_watched():
        return None
    for each in (x, mean, tril, weight):
        if each.__class__ not in _PLAIN:
            return None
    if not (x.is_contiguous() and mean.is_contiguous() and tril.is_contiguous() and weight.is_contiguous()):
        return None
    if x.is_neg() or mean.is_neg() or tril.is_neg() or weight.is_neg():
        return None
    # fmt: off
    return (x.shape, x.dtype, x.device, mean.shape, mean.dtype, mean.device,
            tril.shape, tril.dtype, tril.device, weight.shape, weight.dtype, weight.device)
    # fmt: on


def field_again(x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, most_q: float) -> tuple[Any, Tensor | None]:
    """The field by a way that is known, or None; and the key for keep_field()."""
    key = key_of(x, mean, tril, weight)
    way = _ways.get(key)
    if way is None:
        return key if key not in _ways else None, None
    if _is_grad_enabled() and (x.requires_grad or mean.requires_grad or tril.requires_grad or weight.requires_grad):
        return None, apply_field(x, mean, tril, weight, most_q, way)
    return None, _field(way, x, mean, tril, weight, most_q)


def _field(way: FieldWay, x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, most_q: float) -> Tensor:
    out: Tensor = _empty_like(way.out, memory_format=DENSE)
    library: Any = abi._library
    space = way.space(x)
    packed = way.pack(x, mean, tril, weight, most_q)
    address = None if space is None else space.data_ptr()
    status = library.saccade_gaussian_field(place_of(x), packed, address, out.data_ptr())
    if status != 0:
        abi._fail(library, status)
    return out


def keep_field(key: Any, x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, out: Tensor) -> None:
    """Remember how `out` came of tensors that have no gaps and whose leading axes are the same: at most one."""
    if len(_ways) >= _MOST:
        _ways.clear()
    way = None
    tensors = (x, mean, tril, weight)
    leading = {x.shape[:-2], mean.shape[:-2], tril.shape[:-3]}
    squeezed = weight.ndim == 1
    leading.add(weight.shape[: -1 if squeezed else -2])
    kind = not x.is_meta and _recording.is_native(x) and x.dtype in {torch.float32, torch.float64}
    alike = all(
        each.is_contiguous() and readable(each) is each and each.dtype == x.dtype and each.device == x.device
        for each in tensors
    )
    if kind and alike and len(leading) == 1 and x.ndim <= 3 and out.numel() and mean.numel():
        way = FieldWay(*tensors, out.shape)
    _ways[key] = way


class FieldOfWay(torch.autograd.Function):
    """saccade::gaussian_field where its way is known."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, mean: Tensor, tril: Tensor, weight: Tensor, most_q: float, way: FieldWay
    ) -> Tensor:
        """Sum the Gaussians."""
        ctx.save_for_backward(x, mean, tril, weight)
        ctx.made = most_q, way
        return _field(way, x, mean, tril, weight, most_q)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give x, mean, tril and weight their gradients."""
        (gradient,) = gradients
        saved = ctx.saved_tensors
        most_q, way = ctx.made
        needs = ctx.needs_input_grad
        if is_seen(gradient) or not all(map(torch.Tensor.is_contiguous, saved)):
            return (*_by_operator(gradient, saved, most_q, list(needs[:4])), None, None)
        if not gradient.is_contiguous() or gradient.is_neg() or gradient.data_ptr() < HIGH:
            gradient = readable(gradient.contiguous())
        x = saved[0]
        found = [_empty_like(each) if want else None for each, want in zip(saved, needs, strict=False)]
        space = way.space(x)
        library: Any = abi._library
        status = library.saccade_gaussian_field_backward(
            place_of(x),
            way.pack(*saved, most_q),
            gradient.data_ptr(),
            None if space is None else space.data_ptr(),
            *[None if each is None else each.data_ptr() for each in found],
        )
        if status != 0:
            abi._fail(library, status)
        return (*found, None, None)


# As _gradients.apply_way.
apply_field: Any = super(torch.autograd.Function, FieldOfWay).apply


def _by_operator(gradient: Tensor, saved: Any, most_q: float, wanted: list[bool]) -> list[Tensor | None]:
    """The gradients by the operator, for those who look on; it knows batches and channels alone."""
    x, mean, tril, weight = saved
    squeezed = weight.ndim < mean.ndim
    shapes = [each.shape for each in saved]
    if squeezed:
        weight, gradient = weight[..., None], gradient[..., None]
    tensors = [x, mean, tril, weight]
    if x.ndim == 2:
        tensors, gradient = [each[None] for each in tensors], gradient[None]
    tensors = [each.contiguous() for each in tensors]
    found = torch.ops.saccade.gaussian_field_backward(gradient, *tensors, most_q, wanted)
    return [each.reshape(shape) if want else None for each, shape, want in zip(found, shapes, wanted, strict=True)]
