"""Sums of Gaussians at points: `mahalanobis` and `gaussian_field`."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pysaccade._operators import _checks, _tensor_abi
from pysaccade.tensors._types import ArrayT

if TYPE_CHECKING:
    from torch import Tensor

Array = Any

MOST_DIMENSIONS = 4
_AXES = {"x": 2, "mean": 2, "scale_tril": 3, "weight": 2}  # at least


def _checked(who: str, arrays: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """Arrays of one floating type, and the leading shape that they broadcast to."""
    named = list(zip(_AXES, arrays, strict=False))
    for name, array in named:
        _checks.require_array(array, who, name)
        if array.ndim < _AXES[name]:
            raise ValueError(f"{who}: {name} is {list(array.shape)}; it must be {_SHAPES[name]}")
    x, mean, tril = arrays[:3]
    _checks.require_together(who, named[0], named[1:])
    dimensions, (count, its_dimensions), ends = x.shape[-1], mean.shape[-2:], tril.shape[-3:]
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(f"{who}: x has {dimensions} dimensions, 1 to {MOST_DIMENSIONS} are possible")
    if its_dimensions != dimensions or ends != (count, dimensions, dimensions):
        raise ValueError(
            f"{who}: x is {list(x.shape)}, mean {list(mean.shape)}, scale_tril {list(tril.shape)}; they must be "
            f"[.., P, D], [.., G, D] and [.., G, D, D]"
        )
    if len(arrays) == 4 and arrays[3].shape[-2] != count:
        raise ValueError(
            f"{who}: weight is {list(arrays[3].shape)}, mean {list(mean.shape)}; weight must be [.., G, K]"
        )
    arrays = _one_type(who, named)
    if x.ndim == 2 and mean.ndim == 2 and tril.ndim == 3 and (len(arrays) == 3 or arrays[3].ndim == 2):
        return arrays, ()
    leading = [tuple(array.shape[: array.ndim - least]) for array, least in zip(arrays, _AXES.values(), strict=False)]
    try:
        shape = _broadcast(x)(*leading)
    except (ValueError, RuntimeError):
        raise ValueError(f"{who}: leading axes {', '.join(map(str, map(list, leading)))} don't broadcast") from None
    return arrays, shape


def _broadcast(array: Array) -> Any:
    """broadcast_shapes() of an array's library: torch's keeps a size that a compiler has as a symbol."""
    if not _checks.is_tensor(array):
        return np.broadcast_shapes
    import torch

    return torch.broadcast_shapes


def require_cutoff(cutoff: Any, who: str) -> None:
    """Raise unless this is a number of standard deviations, or None."""
    if cutoff is None:
        return
    if not _checks.number(cutoff, who, "cutoff") > 0:
        raise ValueError(f"{who}: cutoff is {cutoff!r}; it must be above 0, in standard deviations, or None")


def _batched(arrays: tuple[Array, ...], leading: tuple[int, ...]) -> tuple[Array, ...]:
    """Arrays [B, ..] each, without gaps."""
    return tuple(_flat(array, leading, least) for array, least in zip(arrays, _AXES.values(), strict=False))


def _folded(arrays: tuple[Array, ...], leading: tuple[int, ...]) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """Batches of points as more points, where all have the same Gaussians, which are then not copied for each."""
    x, *gaussians = arrays
    if not leading or math.prod(x.shape[:-2]) != math.prod(leading) or math.prod(x.shape[:-1]) > _MOST_POINTS:
        return arrays, leading
    alone = []
    for array, axes in zip(gaussians, (2, 3, 2), strict=False):
        if math.prod(array.shape[: array.ndim - axes]) != 1:
            return arrays, leading
        alone.append(array if array.ndim == axes else array.reshape(array.shape[array.ndim - axes :]))
    return (x.reshape(-1, x.shape[-1]), *alone), ()


_MOST_POINTS = (1 << 31) - 1
_HALVES = {"float16", "bfloat16"}
_TYPES = _HALVES | {"float32", "float64"}
_AS_THEY_ARE = ({"float32"}, {"float64"})
_SHAPES = {"x": "[.., P, D]", "mean": "[.., G, D]", "scale_tril": "[.., G, D, D]", "weight": "[.., G, K]"}


def _one_type(who: str, named: list[tuple[str, Array]]) -> tuple[Array, ...]:
    kinds = {_checks.dtype_name(array) for _, array in named}
    if kinds in _AS_THEY_ARE:
        return tuple(array for _, array in named)
    names = {name: _checks.dtype_name(array) for name, array in named}
    if not kinds <= _TYPES:
        name = next(name for name, kind in names.items() if kind not in _TYPES)
        raise TypeError(f"{who}: {name} is {names[name]}; pass float32 or float64")
    full = kinds - _HALVES or {"float32"}
    if len(full) > 1:
        listed = ", ".join(f"{name} {kind}" for name, kind in names.items())
        raise TypeError(f"{who}: {listed}; pass one type, float32 or float64")
    kind = full.pop()
    if _checks.is_tensor(named[0][1]):
        import torch

        return tuple(array.to(getattr(torch, kind)) for _, array in named)
    return tuple(array.astype(kind) for _, array in named)


def _flat(array: Array, leading: tuple[int, ...], axes: int) -> Array:
    """[.., ...] as [B, ...], repeated where it broadcasts, without gaps."""
    tail = tuple(array.shape[array.ndim - axes :])
    batch = math.prod(leading)
    if _checks.is_tensor(array):
        if tuple(array.shape) != (batch, *tail):
            array = array.expand(*leading, *tail).reshape(batch, *tail)
        return array.contiguous()
    return np.ascontiguousarray(np.broadcast_to(array, (*leading, *tail)).reshape(batch, *tail))


def _called(name: str, tensors: tuple[Array, ...], leading: tuple[int, ...], *numbers: float) -> Array:
    """Call an operator, or its function where no transform must see one; [P, ..] where `leading` is ()."""
    recording = _checks.recording()
    if recording.is_traced(*tensors):
        recording.refuse_transforms(name, *tensors)
        return getattr(sys.modules["torch"].ops.saccade, name)(*_batched(tensors, leading), *numbers)
    arguments = (*([each.contiguous() for each in tensors] if leading == () else _batched(tensors, leading)), *numbers)
    field = name == "gaussian_field"
    if recording.needs_gradient(*tensors):
        gradients = _checks.module("pysaccade.tensors._call.gradients")
        return (gradients.Field if field else gradients.Mahalanobis).apply(*arguments)
    operators = _checks.module("pysaccade._operators._operators")
    return (operators._gaussian_field_now if field else operators._mahalanobis_now)(*arguments)


def mahalanobis(x: ArrayT, mean: ArrayT, scale_tril: ArrayT) -> ArrayT:
    """Squared distances of points from Gaussians, in units of their spread.

        >>> x, mean = torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)
        >>> sc.mahalanobis(x, mean, torch.eye(2)[None])
        tensor([[25.]])

    Args:
        x: [.., P, D] points, D from 1 to 4; f32 or f64, tensor or NumPy array.
        mean: [.., G, D].
        scale_tril: [.., G, D, D], L with L L^T the covariance: its lower triangle is read. Its diagonal isn't 0.

    Returns:
        q [.., P, G] = |L^-1 (x - mean)|^2. Differentiable.

    Raises:
        TypeError, ValueError: Types, shapes or devices don't go together. The text names them.

    Convention: q is a square: a point one standard deviation away has 1. Leading axes broadcast.
    """
    axes: tuple[int, ...]
    given, axes = _checked("mahalanobis", (x, mean, scale_tril))
    shape = (*axes, x.shape[-2], mean.shape[-2])
    arrays, leading = _folded(given, axes)
    if not _checks.is_tensor(x):
        points, means, trils = _batched(arrays, leading)
        found: Any = np.empty((points.shape[0], points.shape[1], means.shape[1]), points.dtype)
        if found.size:
            _tensor_abi.Gaussians(points, means, trils, None, math.inf).mahalanobis(found)
    elif not _checks.recording().is_native(x):
        from pysaccade.tensors import reference  # needs torch

        found = reference.mahalanobis(*_batched(arrays, leading))
    else:
        found = _called("mahalanobis", arrays, leading)
    q: ArrayT = found if found.shape == shape else found.reshape(shape)
    return q


def scale_tril_of(quats: Tensor, scales: Tensor) -> Tensor:
    """L of Gaussians that are given as gsplat has them, by rotations and scales: for gaussian_field().

        >>> sc.scale_tril_of(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[[1., 0., 0.],
                 [0., 2., 0.],
                 [0., 0., 3.]]])

    Args:
        quats: [.., G, 4] quaternions (w, x, y, z), of any length above 0; f32 or f64.
        scales: [.., G, 3], standard deviations along the rotated axes, above 0: gsplat's after its exp().

    Returns:
        L [.., G, 3, 3], lower triangular, its diagonal above 0, with L L^T = R diag(scales^2) R^T. Differentiable.

    Raises:
        TypeError, ValueError: An argument is not a tensor of that shape.
    """
    who = "scale_tril_of"
    _checks.require_coordinates(quats, who, "quats", 4)
    _checks.require_coordinates(scales, who, "scales", 3)
    _checks.require_together(who, ("quats", quats), [("scales", scales)])
    torch = _checks.module("torch")
    w, x, y, z = (quats / quats.norm(dim=-1, keepdim=True)).unbind(-1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    # Gram-Schmidt over the rows of R diag(scales): no square of a scale is taken, as a Cholesky factorisation would.
    made: list[Tensor] = []
    axes: list[Tensor] = []
    for row in rows:
        rest, places = torch.stack(row, -1) * scales, []
        for axis in axes:
            places.append((rest * axis).sum(-1))
            rest = rest - places[-1][..., None] * axis
        places.append(rest.norm(dim=-1))
        axes.append(rest / places[-1][..., None])
        made.append(torch.stack([*places, *[torch.zeros_like(w)] * (3 - len(places))], -1))
    tril: Tensor = torch.stack(made, -2)
    return tril


def gaussian_field(
    x: ArrayT, mean: ArrayT, scale_tril: ArrayT, weight: ArrayT, *, cutoff: float | None = None
) -> ArrayT:
    """Sum Gaussians at points, without a matrix of all pairs: memory grows with P + G.

        >>> x, mean = torch.tensor([[0.0], [1.0]]), torch.zeros(1, 1)
        >>> sc.gaussian_field(x, mean, torch.ones(1, 1, 1), torch.tensor([2.0]))
        tensor([2.0000, 1.2131])

    Args:
        x: [.., P, D] points, D from 1 to 4; f32 or f64, tensor or NumPy array. f16 and bf16 are computed in f32.
        mean: [.., G, D].
        scale_tril: [.., G, D, D], L with L L^T the covariance: its lower triangle is read. Its diagonal isn't 0.
        weight: [.., G, K] of K channels, or [G] of one.
        cutoff: Pairs further apart than so many standard deviations count 0; None: all count.

    Returns:
        [.., P, K] = sum over g of weight[g, k] exp(-q / 2), q = mahalanobis(x, mean, scale_tril)[p, g]; [P] for a
        weight [G]. Differentiable in all four.

    Raises:
        TypeError, ValueError: Types, shapes or devices don't go together. The text names them.

    Convention: the Gaussians are not normalised: at its mean each is its weight. Leading axes broadcast.
    """
    who = "gaussian_field"
    _checks.require_array(weight, who, "weight")
    if weight.ndim == 0:
        raise ValueError(f"{who}: weight is a number; it must be [.., G, K] or [G]")
    squeezed = weight.ndim == 1
    if squeezed:
        weight = weight[:, None]
    require_cutoff(cutoff, who)
    axes: tuple[int, ...]
    given, axes = _checked(who, (x, mean, scale_tril, weight))
    most_q = math.inf if cutoff is None else float(cutoff) ** 2
    shape = (*axes, x.shape[-2], weight.shape[-1])
    arrays, leading = _folded(given, axes)
    out: Array
    if not _checks.is_tensor(x):
        points, means, trils, weights = _batched(arrays, leading)
        out = np.zeros((points.shape[0], points.shape[1], weights.shape[2]), points.dtype)
        if out.size and means.shape[1]:
            _tensor_abi.Gaussians(points, means, trils, weights, most_q).field(None, out)
    elif not _checks.recording().is_native(x):
        from pysaccade.tensors import reference  # needs torch

        out = reference.gaussian_field(*_batched(arrays, leading), cutoff=cutoff)
    else:
        out = _called("gaussian_field", arrays, leading, most_q)
    if out.shape != shape:
        out = out.reshape(shape)
    field: ArrayT = out[..., 0] if squeezed else out
    return field
