"""One call of the operator that samples: shapes, the direct way into the library, the one that autograd sees."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pysaccade._operators import _checks, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade.tensors._call.values import Values
from pysaccade.tensors._pyramid_arguments import checked_levels
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import ArrayT

Array = Any
Pyramid = Texture[ArrayT] | Sequence[ArrayT]


class Sampled(NamedTuple):
    """What is sampled: levels of the caller, or a texture."""

    levels: list[Array] | None  # [B,C,h,w] each
    texture: Texture[Any] | None
    base: Array  # level 0 [B,C,H,W]
    batched: bool  # whether the caller's is a batch


class Settings(NamedTuple):
    zeros: bool
    max_anisotropy: int = 1
    rotate: bool = True


def texture_of(pyramid: Any, who: str) -> Sampled:
    """A pyramid as the functions below take it."""
    if isinstance(pyramid, Texture):
        if pyramid._of_tensors:
            _checks.recording().refuse_script(who)
        pyramid._refresh()
        return Sampled(None, pyramid, pyramid._recorded(), pyramid._batched)
    levels, batched = checked_levels(pyramid, who)
    return Sampled(levels, None, levels[0], batched)


def arranged(centers: Array, lod: Array, base: Array, batched: bool, who: str) -> tuple[Array, Array, tuple[int, ...]]:
    """Places as [B,M,2] and [B,M], and the shape [..] that patches [B,M,..] then take. Batches of 1 are repeated.

    Those of one image [C,H,W] stay [N,2] and [N]: a view costs more than a check.
    """
    shape = tuple(lod.shape)
    if not batched and len(shape) == 1:
        return centers, lod, shape
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
    what: Sampled,
    centers: Array,
    lod: Array,
    direction: Array | None,
    patches: Array,
    scale: float,
    settings: Settings,
) -> None:
    """Write patches [B,M,C,S,S] or [M,C,S,S]: no gradient is recorded."""
    abi, texture, levels = _tensor_abi, what.texture, what.levels
    storage = texture._storage if texture is not None else None
    if storage is not None:
        packed, count = storage.packed, storage.layout.levels
    else:
        if levels is None:
            assert texture is not None
            levels = texture._levels_now()
        levels = [readable(level) for level in levels]
        packed, count = abi.packed_levels(levels), len(levels)
    places = abi.packed_places(centers, lod, direction)
    abi.sample(what.base, packed, count, places, abi.packed_options(scale, *settings), patches)


def sampled(
    what: Sampled,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
    out: Array | None = None,
) -> Array:
    """Patches [B,M,C,S,S] of centers [B,M,2], lod [B,M] and direction [B,M,2]; `out` is written where it is given.

    Of one image B may lack, in all of them.
    """
    levels, texture, base, _ = what
    if texture is not None and texture._given:
        levels = texture._levels_now()
    shape = (*lod.shape, base.shape[1], size, size)
    if not _checks.is_tensor(base):
        target = np.empty(shape, values.dtype) if out is None else out
        centers, lod, direction = _tensor_abi.readable_places(centers, lod, direction)
        if target.size:
            _call_library(what, centers, lod, direction, target, values.scale, settings)
        return target
    torch, recording = sys.modules["torch"], _checks.recording()
    seen = (base, centers, lod, direction)
    intercepted = recording.is_traced(*seen)
    if intercepted:
        recording.refuse_transforms("sampling", *seen, *(levels or ()))
    is_native = recording.is_native(base)
    if len(shape) == 4 and (intercepted or not is_native):
        across = None if direction is None else direction[None]
        return sampled(what, centers[None], lod[None], across, size, values, settings)[0]
    learns = recording.needs_gradient(*seen) or (levels is not None and recording.needs_gradient(*levels))
    if not is_native:
        if 0 in shape:
            return torch.empty(shape, dtype=values.dtype, device=base.device)
        return _by_reference(what, centers, lod, direction, size, values, settings)
    if not intercepted:
        centers, lod, direction = _tensor_abi.readable_places(centers, lod, direction)
    if texture is not None and learns and not texture._gives_gradients:
        raise ValueError(
            "pysaccade: a persistent texture gives no gradient; sample under torch.no_grad(), or make a "
            "TexturePyramid of the frame"
        )
    if texture is not None and texture.filtering != "exact":
        from pysaccade.tensors._call import hardware as _hardware  # needs torch

        unit = _hardware.texture_for(texture, intercepted, learns)
        if unit is not None:
            target = torch.empty(shape, dtype=values.dtype, device=base.device) if out is None else out
            return _hardware.sampled(texture, unit, centers, lod, direction, target, values.scale, settings)
    if not intercepted and not learns:
        target = torch.empty(shape, dtype=values.dtype, device=base.device) if out is None else out
        if target.numel():
            _call_library(what, centers, lod, direction, target, values.scale, settings)
        return target
    return _recorded(what, levels, centers, lod, direction, size, values, settings, intercepted)


def _recorded(
    what: Sampled,
    levels: list[Array] | None,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
    intercepted: bool,
) -> Array:
    """Patches by an operator where torch must see one, else by a torch.autograd.Function, which costs a tenth of it."""
    texture = what.texture
    derived = -1 if texture is None else texture._derived
    storage = texture._storage if texture is not None else None
    if levels is None and (intercepted or storage is None):
        assert texture is not None
        levels = texture._levels_now()
    if intercepted:
        operator = sys.modules["torch"].ops.saccade.sample
        return operator(levels, centers, lod, direction, size, values.dtype, values.scale, *settings, derived)
    gradients = _checks.module("pysaccade.tensors._call.gradients")
    count = storage.layout.levels if levels is None and storage is not None else len(levels or ())
    call = gradients.Call(derived, count, size, values.dtype, values.scale, *settings)
    if levels is None:
        return gradients.ImagePatches.apply(what.base, centers, lod, direction, storage, call)
    return gradients.LevelPatches.apply(call, centers, lod, direction, *levels)


def _by_reference(
    what: Sampled,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
) -> Array:
    from pysaccade.tensors import reference  # needs torch

    levels = what.levels
    if levels is None:
        assert what.texture is not None
        levels = what.texture._differentiable()
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
