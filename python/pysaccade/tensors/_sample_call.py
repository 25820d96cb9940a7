"""One call of the operator that samples: shapes, the direct way into the library, the one that autograd sees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pysaccade._operators import _checks, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade.tensors._pyramid_arguments import checked_levels
from pysaccade.tensors._values import Values
from pysaccade.tensors.pyramid import TexturePyramid

Array = Any
Pyramid = TexturePyramid | Sequence[Array]
Texture = tuple[
    list[Array] | None, TexturePyramid | None, Array, bool
]  # levels, or a pyramid; level 0; whether it is a batch


class Settings(NamedTuple):
    zeros: bool
    max_anisotropy: int
    rotate: bool


def texture_of(pyramid: Pyramid, who: str) -> Texture:
    """A pyramid as the functions below take it."""
    if isinstance(pyramid, TexturePyramid):
        if pyramid._of_tensors:
            _checks.recording().refuse_script(who)
        pyramid._refresh()
        return None, pyramid, pyramid._recorded(), pyramid._batched
    levels, batched = checked_levels(pyramid, who)
    return levels, None, levels[0], batched


def arranged(centers: Array, lod: Array, base: Array, batched: bool, who: str) -> tuple[Array, Array, tuple[int, ...]]:
    """Places as [B,M,2] and [B,M], and the shape [..] that patches [B,M,..] then take. Batches of 1 are repeated."""
    shape = tuple(lod.shape)
    batch = base.shape[0]
    if not batched or (batch == 1 and not (len(shape) > 1 and shape[0] == 1)):
        if batched and len(shape) == 1:
            shape = (1, *shape)
        return centers.reshape(1, -1, 2), lod.reshape(1, -1), shape
    if len(shape) == 1:
        shape = (batch, *shape)
        return expanded(centers[None], (batch, shape[1], 2)), expanded(lod[None], shape), shape
    if shape[0] not in (1, batch):
        raise ValueError(
            f"{who}: pyramid has {batch} images, the plan is for {shape[0]}: {list(shape)}; pass [{batch}, N, ..]"
        )
    shape = (batch, *shape[1:])
    if lod.ndim != 2:
        many = math.prod(shape[1:])
        centers, lod = centers.reshape(lod.shape[0], many, 2), lod.reshape(lod.shape[0], many)
    if lod.shape[0] != batch:
        centers, lod = expanded(centers, (batch, *centers.shape[1:])), expanded(lod, (batch, lod.shape[1]))
    return centers, lod, shape


def expanded(array: Array, shape: tuple[int, ...]) -> Array:
    return array.expand(shape) if _checks.is_tensor(array) else np.broadcast_to(array, shape)


def _call_library(
    texture: Texture,
    centers: Array,
    lod: Array,
    direction: Array | None,
    patches: Array,
    scale: float,
    settings: Settings,
) -> None:
    """Write patches [B,M,C,S,S]; nobody looks on."""
    levels, pyramid, base, _ = texture
    abi = _tensor_abi
    storage = pyramid._storage if pyramid is not None else None
    if storage is not None:
        packed, count = storage.packed, storage.layout.levels
    else:
        if levels is None:
            assert pyramid is not None
            levels = pyramid._levels_now()
        levels = [readable(level) for level in levels]
        packed, count = abi.packed_levels(levels), len(levels)
    places = abi.packed_places(centers, lod, direction)
    abi.sample(base, packed, count, places, abi.packed_options(scale, *settings), patches)


def sampled(
    texture: Texture,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
    out: Array | None = None,
) -> Array:
    """Patches [B,M,C,S,S] of centers [B,M,2], lod [B,M] and direction [B,M,2]; `out` is written where it is given."""
    levels, pyramid, base, _ = texture
    if pyramid is not None and pyramid._given:
        levels = pyramid._levels_now()
    batch, count = lod.shape
    shape = (batch, count, base.shape[1], size, size)
    if not _checks.is_tensor(base):
        target = np.empty(shape, values.dtype) if out is None else out
        centers, lod, direction = _tensor_abi.readable_places(centers, lod, direction)
        if target.size:
            _call_library(texture, centers, lod, direction, target, values.scale, settings)
        return target
    import torch

    _recording = _checks.recording()

    seen = (base, centers, lod, direction)
    traced = _recording.is_traced(*seen)
    if traced:
        _recording.refuse_transforms("sampling", *seen, *(levels or ()))
    elif _recording.is_native(base):
        centers, lod, direction = _tensor_abi.readable_places(centers, lod, direction)
    learns = _recording.needs_gradient(*seen) or (levels is not None and _recording.needs_gradient(*levels))
    if not _recording.is_native(base):
        if 0 in shape:
            return torch.empty(shape, dtype=values.dtype, device=base.device)
        return _by_reference(texture, centers, lod, direction, size, values, settings)
    if learns and pyramid is not None and pyramid._persistent:
        raise ValueError(
            "pysaccade: a persistent texture gives no gradient; sample under torch.no_grad(), or make a "
            "TexturePyramid of the frame"
        )
    if pyramid is not None and pyramid.filtering != "exact":
        from pysaccade.tensors import _hardware

        texture_unit = _hardware.texture_for(pyramid, traced, learns)
        if texture_unit is not None:
            target = torch.empty(shape, dtype=values.dtype, device=base.device) if out is None else out
            return _hardware.sampled(pyramid, texture_unit, centers, lod, direction, target, values.scale, settings)
    if not traced and not learns:
        target = torch.empty(shape, dtype=values.dtype, device=base.device) if out is None else out
        if target.numel():
            _call_library(texture, centers, lod, direction, target, values.scale, settings)
        return target
    derived = -1
    storage = pyramid._storage if pyramid is not None else None
    if pyramid is not None:
        derived = pyramid._derived
    if not traced:
        from pysaccade.tensors._gradients import Call, ImagePatches, LevelPatches

        if storage is not None:
            call = Call(derived, storage.layout.levels, size, values.dtype, values.scale, *settings)
            return ImagePatches.apply(base, centers, lod, direction, storage, call)
    if levels is None:
        assert pyramid is not None
        levels = pyramid._levels_now()
    if not traced:
        call = Call(derived, len(levels), size, values.dtype, values.scale, *settings)
        return LevelPatches.apply(call, centers, lod, direction, *levels)
    return torch.ops.saccade.sample(
        levels, centers, lod, direction, size, values.dtype, values.scale, *settings, derived
    )


def _by_reference(
    texture: Texture,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
) -> Array:
    from pysaccade.tensors import reference

    levels, pyramid, _, _ = texture
    if levels is None:
        assert pyramid is not None
        levels = pyramid._differentiable()
    padding = "zeros" if settings.zeros else "border"
    if _checks.dtype_name(levels[0]) == "float64":  # what the library computes with
        centers, lod, direction = (None if each is None else each.double() for each in (centers, lod, direction))
    if direction is None:
        found = reference.sample_patches(levels, centers, lod, size, padding=padding)
    else:
        found = reference.sample_anisotropic(
            levels,
            centers,
            lod,
            direction,
            size,
            max_anisotropy=settings.max_anisotropy,
            rotate=settings.rotate,
            padding=padding,
        )
    found = found * values.scale
    return _codes(found, values.dtype) if not values.dtype.is_floating_point else found.to(values.dtype)


def _codes(values: Array, dtype: Any) -> Array:
    """u8 or u16 as the library stores them: to nearest, halves up, within range; not a number is 0."""
    import torch

    found = torch.nan_to_num(values + 0.5, nan=0.0).clamp(0, torch.iinfo(dtype).max)
    return found.to(torch.int32).to(dtype)


def is_zeros(padding: Any, who: str) -> bool:
    return _checks.choice(padding, ("border", "zeros"), who, "padding") == "zeros"


def is_traced(tensor: Any) -> bool:
    if not _checks.is_tensor(tensor):
        return False
    _recording = _checks.recording()

    return bool(_recording.is_traced(tensor))


def coordinates(values: Any, base: Array, who: str, name: str, axes: int | None, dtype: Any = None) -> Array:
    """Numbers of a caller as an array beside `base`; lists and NumPy arrays are copied to its device."""
    if _checks.is_tensor(values) or (isinstance(values, np.ndarray) and not _checks.is_tensor(base)):
        _checks.require_places(values, who, name, ("pyramid", base), axes)
        return values if dtype is None or values.dtype == dtype else _as_type(values, dtype)
    if _checks.is_compiling():
        tensor = _checks.recording().tensor_of(values, dtype, base.device)
        _checks.require_places(tensor, who, name, ("pyramid", base), axes)
        return tensor
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
        if not isinstance(values, np.ndarray):
            array = array.astype(np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{who}: {name} takes numbers, a tensor or an array, not {_checks.shown(values)}") from None
    _checks.require_coordinates(array, who, name, axes)
    if _checks.is_tensor(base):
        import torch

        return torch.as_tensor(array, dtype=dtype, device=base.device)
    if dtype is not None:
        array = array.astype(dtype)
    return array


def _as_type(values: Array, dtype: Any) -> Array:
    return values.to(dtype) if _checks.is_tensor(values) else values.astype(dtype)
