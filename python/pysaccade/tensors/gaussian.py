"""Sums of Gaussians at points: `mahalanobis` and `gaussian_field`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pysaccade._operators import _checks, _tensor_abi

Array = Any

MOST_DIMENSIONS = 4
_NAMES = ("x", "mean", "scale_tril", "weight")


def _checked(who: str, arrays: tuple[Array, ...]) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """Arrays of one floating type, contiguous, [B, ..] each, and the leading shape that they broadcast to."""
    named = list(zip(_NAMES, arrays, strict=False))
    for name, array in named:
        _checks.require_array(array, who, name)
    _checks.require_together(who, named[0], named[1:])
    x, mean, tril = arrays[:3]
    axes = (2, 2, 3, 2)
    for (name, array), least in zip(named, axes, strict=False):
        if array.ndim < least:
            raise ValueError(f"{who}: {name} is {list(array.shape)}; it must be {_SHAPES[name]}")
    dimensions, count = x.shape[-1], mean.shape[-2]
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(f"{who}: x has {dimensions} dimensions, 1 to {MOST_DIMENSIONS} are possible")
    if mean.shape[-1] != dimensions or tuple(tril.shape[-3:]) != (count, dimensions, dimensions):
        raise ValueError(
            f"{who}: x is {list(x.shape)}, mean {list(mean.shape)}, scale_tril {list(tril.shape)}; they must be "
            f"[.., P, D], [.., G, D] and [.., G, D, D]"
        )
    if len(arrays) == 4 and arrays[3].shape[-2] != count:
        raise ValueError(
            f"{who}: weight is {list(arrays[3].shape)}, mean {list(mean.shape)}; weight must be [.., G, K]"
        )
    arrays = _one_type(who, named)
    leading = [tuple(array.shape[: array.ndim - least]) for array, least in zip(arrays, axes, strict=False)]
    try:
        shape = np.broadcast_shapes(*leading)
    except ValueError:
        raise ValueError(f"{who}: leading axes {', '.join(map(str, map(list, leading)))} don't broadcast") from None
    return tuple(_flat(array, shape, least) for array, least in zip(arrays, axes, strict=False)), shape


_SHAPES = {"x": "[.., P, D]", "mean": "[.., G, D]", "scale_tril": "[.., G, D, D]", "weight": "[.., G, K]"}


def _one_type(who: str, named: list[tuple[str, Array]]) -> tuple[Array, ...]:
    names = {name: _checks.dtype_name(array) for name, array in named}
    halves = {"float16", "bfloat16"}
    for name, kind in names.items():
        if kind not in halves | {"float32", "float64"}:
            raise TypeError(f"{who}: {name} is {kind}; pass float32 or float64")
    full = {kind for kind in names.values() if kind not in halves} or {"float32"}
    if len(full) > 1:
        told = ", ".join(f"{name} {kind}" for name, kind in names.items())
        raise TypeError(f"{who}: {told}; pass one type, float32 or float64")
    kind = full.pop()
    if all(each == kind for each in names.values()):
        return tuple(array for _, array in named)
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


def _by_reference(array: Array) -> bool:
    if not _checks.is_tensor(array):
        return False
    _recording = _checks.recording()

    return not _recording.is_native(array)


def mahalanobis(x: Array, mean: Array, scale_tril: Array) -> Array:
    """Squared distances of points from Gaussians, in units of their spread.

    Args:
        x: [.., P, D] points, D from 1 to 4; f32 or f64, tensor or NumPy array.
        mean: [.., G, D].
        scale_tril: [.., G, D, D], L with L L^T the covariance: its lower triangle is read. Its diagonal isn't 0.

    Returns:
        q [.., P, G] = |L^-1 (x - mean)|^2. Differentiable.

    Convention: q is a square: a point one standard deviation away has 1. Leading axes broadcast.
    """
    (x, mean, scale_tril), leading = _checked("mahalanobis", (x, mean, scale_tril))
    shape = (*leading, x.shape[1], mean.shape[1])
    if not _checks.is_tensor(x):
        out = np.empty((x.shape[0], x.shape[1], mean.shape[1]), x.dtype)
        if out.size:
            _tensor_abi.Gaussians(x, mean, scale_tril, None, math.inf).mahalanobis(out)
        return out.reshape(shape)
    if _by_reference(x):
        from pysaccade.tensors import reference

        return reference.mahalanobis(x, mean, scale_tril).reshape(shape)
    import torch

    return torch.ops.saccade.mahalanobis(x, mean, scale_tril).reshape(shape)


def gaussian_field(x: Array, mean: Array, scale_tril: Array, weight: Array, *, cutoff: float | None = None) -> Array:
    """Sum Gaussians at points, without a matrix of all pairs: memory grows with P + G.

    Args:
        x: [.., P, D] points, D from 1 to 4; f32 or f64, tensor or NumPy array. f16 and bf16 are computed in f32.
        mean: [.., G, D].
        scale_tril: [.., G, D, D], L with L L^T the covariance: its lower triangle is read. Its diagonal isn't 0.
        weight: [.., G, K] of K channels, or [G] of one.
        cutoff: Pairs further apart than so many standard deviations count 0; None: all count.

    Returns:
        [.., P, K] = sum over g of weight[g, k] exp(-q / 2), q = mahalanobis(x, mean, scale_tril)[p, g]; [P] for a
        weight [G]. Differentiable in all four.

    Convention: the Gaussians are not normalised: at its mean each is its weight. Leading axes broadcast.
    """
    who = "gaussian_field"
    _checks.require_array(weight, who, "weight")
    if weight.ndim == 0:
        raise ValueError(f"{who}: weight is a number; it must be [.., G, K] or [G]")
    squeezed = weight.ndim == 1
    if squeezed:
        weight = weight[:, None]
    if cutoff is not None and not cutoff > 0:
        raise ValueError(f"{who}: cutoff is {cutoff!r}; it must be above 0, in standard deviations, or None")
    (x, mean, scale_tril, weight), leading = _checked(who, (x, mean, scale_tril, weight))
    most_q = math.inf if cutoff is None else float(cutoff) ** 2
    shape = (*leading, x.shape[1], weight.shape[2])
    out: Array
    if not _checks.is_tensor(x):
        out = np.zeros((x.shape[0], x.shape[1], weight.shape[2]), x.dtype)
        if out.size and mean.shape[1]:
            gaussians = _tensor_abi.Gaussians(x, mean, scale_tril, weight, most_q)
            size = gaussians.workspace_bytes()
            gaussians.field(np.empty(size, np.uint8) if size else None, out)
    elif _by_reference(x):
        from pysaccade.tensors import reference

        out = reference.gaussian_field(x, mean, scale_tril, weight, cutoff=cutoff)
    else:
        import torch

        out = torch.ops.saccade.gaussian_field(x, mean, scale_tril, weight, most_q)
    out = out.reshape(shape)
    return out[..., 0] if squeezed else out
