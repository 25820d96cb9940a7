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
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import ArrayT

Array = Any
Pyramid = Texture[ArrayT] | Sequence[ArrayT]


class Settings(NamedTuple):
    """Of a sampling, in the order that the operators take."""

    padding: int  # a saccade_padding
    max_anisotropy: int = 1
    rotate: bool = True
    nearest: bool = False

    @property
    def in_hardware(self) -> bool:
        """Whether the GPU's texture units can do it."""
        return not self.nearest and _PADDINGS[self.padding] in ("border", "zeros")

    @property
    def words(self) -> dict[str, str]:
        """What pysaccade.reference takes."""
        return {"padding": _PADDINGS[self.padding], "mode": _MODES[self.nearest]}


def texture_of(pyramid: Any, who: str) -> tuple[Texture[Any], Array]:
    """A pyramid, or levels of a caller, as a texture that is up to date, and its level 0 [B,C,H,W] for autograd."""
    texture: Texture[Any] = pyramid if isinstance(pyramid, Texture) else Texture._of_levels(pyramid, who)
    if texture._of_tensors:
        _checks.recording().refuse_script(who)
    texture._refresh()
    return texture, texture._recorded()


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
    texture: Texture[Any],
    base: Array,
    places: tuple[Array, Array, Array | None],
    patches: Array,
    scale: float,
    settings: Settings,
) -> Array:
    """Write patches [B,M,C,S,S] or [M,C,S,S]: no gradient is recorded."""
    abi, storage = _tensor_abi, texture._storage
    if storage is None:
        levels = [readable(level) for level in texture._levels_now()]
        packed = abi.packed_levels(levels)
    else:
        packed = storage.packed
    if 0 not in patches.shape:
        options = abi.packed_options(scale, *settings)
        abi.sample(base, packed, texture._count, abi.packed_places(*places), options, patches)
    return patches


def sampled(
    texture: Texture[Any],
    base: Array,
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
    shape = (*lod.shape, base.shape[1], size, size)
    if not texture._of_tensors:
        target = np.empty(shape, values.dtype) if out is None else out
        places = _tensor_abi.readable_places(centers, lod, direction)
        return _call_library(texture, base, places, target, values.scale, settings)
    torch, recording = sys.modules["torch"], _checks.recording()
    levels = texture._levels_now() if texture._given else ()
    inputs = (base, centers, lod, direction, *levels)
    intercepted = recording.is_traced(*inputs)
    if intercepted:
        recording.refuse_transforms("sampling", *inputs)
    is_native = recording.is_native(base)
    if len(shape) == 4 and (intercepted or not is_native):
        across = None if direction is None else direction[None]
        return sampled(texture, base, centers[None], lod[None], across, size, values, settings)[0]
    if not is_native:
        if 0 in shape:
            return torch.empty(shape, dtype=values.dtype, device=base.device)
        return _by_reference(texture, centers, lod, direction, size, values, settings)
    learns = recording.needs_gradient(*inputs)
    if learns and not texture._gives_gradients:
        raise ValueError(
            "pysaccade: a persistent texture gives no gradient; sample under torch.no_grad(), or make a "
            "TexturePyramid of the frame"
        )
    if not intercepted:
        centers, lod, direction = _tensor_abi.readable_places(centers, lod, direction)
    unit = None
    if texture.filtering != "exact" and settings.in_hardware:
        from pysaccade.tensors._call import hardware as _hardware  # needs torch

        unit = _hardware.texture_for(texture, intercepted, learns)
    elif texture.filtering == "hardware":
        words = " and ".join(f"{name}={word!r}" for name, word in settings.words.items())
        raise ValueError(
            f"pysaccade: filtering='hardware' has no {words}; pass padding='border' or 'zeros' and "
            "mode='bilinear', or filtering='exact' or 'hybrid'"
        )
    if unit is None and (intercepted or learns):
        return _recorded(texture, base, centers, lod, direction, size, values, settings, intercepted)
    target = torch.empty(shape, dtype=values.dtype, device=base.device) if out is None else out
    if unit is None:
        return _call_library(texture, base, (centers, lod, direction), target, values.scale, settings)
    return _hardware.sampled(texture, unit, centers, lod, direction, target, values.scale, settings)


def _recorded(
    texture: Texture[Any],
    base: Array,
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
    intercepted: bool,
) -> Array:
    """Patches by an operator where torch must see one, else by a torch.autograd.Function, which costs a tenth of it."""
    derived = texture._derived
    if intercepted:
        operator, levels = sys.modules["torch"].ops.saccade.sample, texture._levels_now()
        return operator(levels, centers, lod, direction, size, values.dtype, values.scale, *settings, derived)
    gradients = _checks.module("pysaccade.tensors._call.gradients")
    call = gradients.Call(derived, texture._count, size, values.dtype, values.scale, *settings)
    if texture._storage is not None:
        return gradients.ImagePatches.apply(base, centers, lod, direction, texture._storage, call)
    return gradients.LevelPatches.apply(call, centers, lod, direction, *texture._levels_now())


def _by_reference(
    texture: Texture[Any],
    centers: Array,
    lod: Array,
    direction: Array | None,
    size: int,
    values: Values,
    settings: Settings,
) -> Array:
    from pysaccade.tensors import reference  # needs torch

    levels = texture._differentiable()
    if _checks.dtype_name(levels[0]) == "float64":  # what the library computes with
        centers, lod, direction = (None if each is None else each.double() for each in (centers, lod, direction))
    if direction is None:
        found = reference.sample_patches(levels, centers, lod, size, **settings.words)
    else:
        found = reference.sample_anisotropic(
            levels,
            centers,
            lod,
            direction,
            size,
            max_anisotropy=settings.max_anisotropy,
            rotate=settings.rotate,
            **settings.words,
        )
    found = found * values.scale
    return _codes(found, values.dtype) if not values.dtype.is_floating_point else found.to(values.dtype)


def _codes(values: Array, dtype: Any) -> Array:
    """u8 or u16 as the library stores them: to nearest, halves up, within range; not a number is 0."""
    import torch

    found = torch.nan_to_num(values + 0.5, nan=0.0).clamp(0, torch.iinfo(dtype).max)
    return found.to(torch.int32).to(dtype)


_PADDINGS = ("border", "zeros", "wrap", "mirror")  # in the order of saccade_padding
_MODES = ("bilinear", "nearest")
_SETTINGS = {
    (padding, mode): Settings(number, nearest=mode == "nearest")
    for number, padding in enumerate(_PADDINGS)
    for mode in _MODES
}


def settings_of(padding: Any, mode: Any, who: str) -> Settings:
    return _SETTINGS[_checks.choice(padding, _PADDINGS, who, "padding"), _checks.choice(mode, _MODES, who, "mode")]


def is_traced(tensor: Any) -> bool:
    return _checks.is_tensor(tensor) and bool(_checks.recording().is_traced(tensor))


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
