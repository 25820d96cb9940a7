"""Samples of a pyramid: points and patches. One operator, differentiable."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade._operators._memory import require_apart
from pysaccade.lattice.plan import PatchPlan, coverage_of, even_centers, filled
from pysaccade.tensors._call.footprint import footprint
from pysaccade.tensors._call.values import Values, normalized, values_of
from pysaccade.tensors._sample_call import (
    Pyramid,
    Settings,
    arranged,
    coordinates,
    expanded,
    is_traced,
    sampled,
    settings_of,
    texture_of,
)
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import ArrayT, Mode, Normalize, Padding, PatchOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = Any


def as_plan(plan: Any, base: Array, who: str) -> PatchPlan:
    """A plan that a pyramid of this level 0 can be sampled by: one on the host is copied to its device."""
    if not isinstance(plan, PatchPlan):
        raise TypeError(f"{who}: plan takes a PatchPlan, not {_checks.shown(plan)}; make one by Lattice(...).plan()")
    if plan.size is not None and tuple(plan.size) != tuple(base.shape[-2:]):
        raise ValueError(
            f"{who}: plan is for images of size={tuple(plan.size)}, the pyramid's is {tuple(base.shape[-2:])}; "
            "make a plan for that size"
        )
    # The device of a tensor never equals that of an array.
    if getattr(plan.centers, "device", None) == getattr(base, "device", None):
        return plan
    if _checks.is_tensor(base) and not _checks.is_tensor(plan.centers):
        return plan.to(base.device)
    _checks.require_together(who, ("pyramid", base), [("plan.centers", plan.centers)])
    return plan


def _direct_out(out: Any, shape: tuple[int, ...], values: Values, base: Array, read: tuple[Any, ...], who: str) -> None:
    """Raise unless `out` can be written: the right array, in memory that nothing else of this call has."""
    _checks.require_array(out, who, "out")
    _checks.require_together(who, ("pyramid", base), [("out", out)])
    if tuple(out.shape) != shape or out.dtype != values.dtype:
        raise ValueError(
            f"{who}: out is {_checks.shown(out)}; it must be {str(values.dtype).removeprefix('torch.')} {list(shape)}"
        )
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError(f"{who}: out can't be written, as of a file that was opened to be read; pass other memory")
    require_apart(out, read, who)
    if _checks.is_tensor(base):
        if _checks.recording().needs_gradient(*read, out):
            raise ValueError(f"{who}: out can't be written where a gradient is asked for; leave it out, or use no_grad")


def patches_of(
    texture: Texture[Any],
    base: Array,
    plan: PatchPlan,
    direction: Array | None,
    settings: Settings,
    dtype: Any,
    normalize: Any,
    out: Array | None,
    who: str,
) -> Array:
    """Patches of a plan, [.., C, S, S]: what the functions below have in common."""
    batched = texture._batched
    plan = as_plan(plan, base, who)
    values = values_of(base, dtype, normalize, out, who)
    lods = plan._lod_to_read()
    centers, lod, shape = arranged(plan.centers, lods, base, batched, who)
    if direction is not None:
        direction = arranged(direction, lods, base, batched, who)[0]
    size = plan.patch_size
    whole = (*shape, base.shape[1], size, size)
    flat_out = None
    if out is not None:
        _direct_out(out, whole, values, base, (base, centers, lod, direction, *texture._memory()), who)
        flat_out = _flat_view(out, lod.shape, who) if is_traced(out) or readable(out) is out else None
    patches = sampled(texture, base, centers, lod, direction, size, values, settings, flat_out)
    if flat_out is not None and patches is flat_out and _checks.is_tensor(out):
        _checks.recording().count_write((out,))
    if values.mean is not None:
        in_place = not (_checks.is_tensor(patches) and (patches.requires_grad or is_traced(patches)))
        patches = normalized(patches, values, in_place)
    if out is not None:
        if flat_out is not patches:
            out[...] = patches.reshape(whole)
        return out
    return patches if patches.shape == whole else patches.reshape(whole)


def _flat_view(out: Array, shape: tuple[int, ...], who: str) -> Array:
    """`out` [..,C,S,S] as [B,M,C,S,S], sharing its memory."""
    wanted = (*shape, *out.shape[-3:])
    if tuple(out.shape) == wanted:
        return out
    try:
        if _checks.is_tensor(out):
            return out.view(wanted)
        view = out.view()
        view.shape = wanted
    except (RuntimeError, AttributeError):
        raise ValueError(f"{who}: out has gaps between its patches; pass a contiguous one") from None
    return view


def sample_patches(
    pyramid: Pyramid[ArrayT],
    plan: PatchPlan,
    *,
    dtype: Any = None,
    normalize: Normalize | None = None,
    padding: Padding = "border",
    mode: Mode = "bilinear",
    out: ArrayT | None = None,
) -> ArrayT:
    """Sample the patches of a plan.

        >>> pyramid = sc.TexturePyramid(torch.rand(3, 64, 64))
        >>> plan = sc.PatchPlan(torch.rand(9, 2), torch.rand(9) * 3, patch_size=8)
        >>> sc.sample_patches(pyramid, plan, normalize="clip").shape
        torch.Size([9, 3, 8, 8])

    Args:
        pyramid: A TexturePyramid, or a list of levels, finest first.
        plan: Where; made by Lattice.plan(), or PatchPlan(centers, lod).
        dtype: Of the patches; by default the pyramid's. u8 and u16 become 0..1 in a floating type.
        normalize: None, "clip", "imagenet", "siglip" or (mean, std): (x - mean) / std of samples in 0..1.
        padding: What lies outside the image: "border": its edge; "zeros"; "wrap": the image again; "mirror": the image
            again, mirrored each second time, grid_sample's "reflection".
        mode: "bilinear", or "nearest": of each level the texel that a sample lies in, without a gradient for places.
        out: Memory for the result, where no gradient is asked for.

    Returns:
        [B, N, C, S, S], or [N, C, S, S] of an image [C,H,W]; K fixations give [B, K, N, C, S, S]. Differentiable in the
        image and in the plan's centers and lod.

    Raises:
        TypeError, ValueError: An argument is wrong, or the plan is for images of another size.

    Convention: sample (i, j) lies at centre + (i - (S-1)/2, j - (S-1)/2) * 2^lod pixels of level 0.
    """
    who = "sample_patches"
    settings = settings_of(padding, mode, who)
    patches: ArrayT = patches_of(*texture_of(pyramid, who), plan, None, settings, dtype, normalize, out, who)
    return patches


def _plan_at_level(
    texture: Texture[Any], base: Array, level: Any, centers: Any, num_patches: Any, patch_size: int
) -> PatchPlan:
    """The plan of sample_at_level()."""
    who = "sample_at_level"
    if (centers is None) == (num_patches is None):
        raise ValueError(f"{who}: pass centers, or num_patches, which spreads that many evenly")
    height, width = base.shape[-2:]
    if centers is None:
        count = _checks.whole(num_patches, who, "num_patches", 1, 1 << 20)
        centers = even_centers(count, (int(height), int(width)))
    centers = coordinates(centers, base, who, "centers", 2)
    last = texture._count - 1
    if isinstance(level, bool):
        raise TypeError(f"{who}: level takes a number, not {level}")
    if isinstance(level, (int, float, np.number)):
        if not 0 <= level <= last:
            raise ValueError(f"{who}: level is {level}; the pyramid has levels 0 to {last}, and fractions between them")
        lod = filled(centers, float(level))
    else:
        lod = expanded(coordinates(level, base, who, "level", None, centers.dtype), centers.shape[:-1])
    return PatchPlan(centers, lod, partial(coverage_of, levels=last + 1), patch_size, size=(height, width))


@overload
def sample_at_level(
    pyramid: Pyramid[ArrayT],
    level: Any,
    centers: Any = None,
    *,
    num_patches: int | None = None,
    patch_size: int = 16,
    return_plan: Literal[False] = False,
    **options: Unpack[PatchOptions],
) -> ArrayT: ...
@overload
def sample_at_level(
    pyramid: Pyramid[ArrayT],
    level: Any,
    centers: Any = None,
    *,
    num_patches: int | None = None,
    patch_size: int = 16,
    return_plan: Literal[True],
    **options: Unpack[PatchOptions],
) -> tuple[ArrayT, PatchPlan]: ...
def sample_at_level(
    pyramid: Pyramid[Any],
    level: Any,
    centers: Any = None,
    *,
    num_patches: int | None = None,
    patch_size: int = 16,
    dtype: Any = None,
    normalize: Normalize | None = None,
    padding: Padding = "border",
    mode: Mode = "bilinear",
    out: Array | None = None,
    return_plan: bool = False,
) -> Any:
    """Sample patches of one resolution: a sample is 2^level pixels from the next.

        >>> pyramid = sc.TexturePyramid(torch.rand(3, 64, 64))
        >>> sc.sample_at_level(pyramid, 2, num_patches=20).shape
        torch.Size([20, 3, 16, 16])

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        level: A number of a level that is there, or [B, N], clamped as a lod is; fractions mix two levels.
        centers: [B, N, 2] or [N, 2] uv.
        num_patches: In place of centers: exactly so many, spread evenly over the image in rows.
        patch_size: S.
        dtype: As sample_patches().
        normalize: As sample_patches().
        padding: As sample_patches().
        mode: As sample_patches().
        out: As sample_patches().
        return_plan: Return the plan as well.

    Returns:
        Patches [B, N, C, S, S] or [N, C, S, S]. With return_plan=True (patches, plan).

    Raises:
        TypeError, ValueError: An argument is wrong, or the pyramid has no such level.

    Convention: centers are uv = (x, y) in [0, 1], origin at the top left.
    """
    who = "sample_at_level"
    texture, base = texture_of(pyramid, who)
    plan = _plan_at_level(texture, base, level, centers, num_patches, patch_size)
    patches = patches_of(texture, base, plan, None, settings_of(padding, mode, who), dtype, normalize, out, who)
    return (patches, plan) if return_plan else patches


def sample(
    pyramid: Pyramid[ArrayT],
    uv: Array,
    lod: Any = None,
    *,
    uv_da: Array | None = None,
    unit: Literal["uv", "px"] = "uv",
    padding: Padding = "border",
    mode: Mode = "bilinear",
    max_anisotropy: int = 1,
    dtype: Any = None,
) -> ArrayT:
    """Sample single places, trilinear: a texture fetch.

        >>> pyramid = sc.TexturePyramid(torch.rand(3, 64, 64))
        >>> sc.sample(pyramid, torch.tensor([[0.5, 0.5], [0.1, 0.9]]), lod=1.5).shape
        torch.Size([3, 2])

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        uv: [B, *P, 2], or [*P, 2] of an image [C,H,W]; f32 or f64.
        lod: [B, *P], or a number; by default 0, or what `uv_da` asks for, to which it is then added.
        uv_da: [B, *P, 2, 2], ((du/dX, du/dY), (dv/dX, dv/dY)): how uv changes from one pixel of the result to the next,
            as nvdiffrast gives it; [B, *P, 4] too.
        unit: Of `uv`: "uv", or "px", pixels of level 0, the centre of pixel i at i + 0.5.
        padding: As sample_patches().
        mode: As sample_patches().
        max_anisotropy: Up to 16: with uv_da, probes along the longer axis of a pixel's footprint.
        dtype: As sample_patches().

    Returns:
        [B, C, *P], or [C, *P] of an image [C,H,W]. Differentiable in the image, uv, lod and uv_da.

    Raises:
        TypeError, ValueError: An argument is wrong. The text names it and what to pass.

    Convention: uv = (x, y) in [0, 1], origin at the top left, the centre of pixel i of W at (i + 0.5) / W:
    grid_sample's 2 * uv - 1 with align_corners=False.
    """
    who = "sample"
    texture, base = texture_of(pyramid, who)
    batched = texture._batched
    _checks.require_places(uv, who, "uv", ("pyramid", base), 2)
    if _checks.choice(unit, _UNITS, who, "unit") == "px":
        if uv_da is not None:
            raise ValueError(f"{who}: uv_da is the footprint of places in uv; leave out unit='px'")
        uv = _from_pixels(uv, base)
    settings = settings_of(padding, mode, who)
    most = _checks.whole(max_anisotropy, who, "max_anisotropy", 1, 16)
    shape = tuple(uv.shape[:-1])
    if batched and (not shape or (shape[0] not in (base.shape[0], 1) and base.shape[0] != 1)):
        raise ValueError(f"{who}: pyramid has {base.shape[0]} images, uv is {list(uv.shape)}; pass [B, *P, 2]")
    direction = None
    if uv_da is not None:
        _checks.require_places(uv_da, who, "uv_da", ("uv", uv))
        bias = lod
        lod, direction = footprint(uv_da, base.shape[-2:], shape, most, who)
        if bias is not None:
            lod = lod + bias
    elif most > 1:
        raise ValueError(f"{who}: max_anisotropy={most} needs uv_da, the footprint of a pixel")
    if lod is None or isinstance(lod, (int, float)):
        lod = filled(uv, 0.0 if lod is None else float(lod))
    lod = coordinates(lod, base, who, "lod", None, uv.dtype)
    try:
        lod = expanded(lod, shape)
    except (RuntimeError, ValueError):
        raise ValueError(
            f"{who}: lod is {list(lod.shape)}, uv is {list(uv.shape)}; lod must be {list(shape)}"
        ) from None
    many = (shape[0], math.prod(shape[1:])) if batched else (math.prod(shape),)
    flat = uv.reshape(*many, 2)
    flat_lod = lod.reshape(flat.shape[:-1])
    centers, lods, _ = arranged(flat, flat_lod, base, batched, who)
    if batched and shape[0] > 1 and base.shape[0] == 1:
        centers, lods = centers.reshape(1, -1, 2), lods.reshape(1, -1)
    if direction is not None:
        direction = arranged(direction.reshape(flat.shape), flat_lod, base, batched, who)[0]
    values = values_of(base, dtype, None, None, who)
    if direction is not None:
        settings = settings._replace(max_anisotropy=most)
    patches = sampled(texture, base, centers, lods, direction, 1, values, settings)
    channels = base.shape[1]
    if not batched:
        points: ArrayT = _transposed(patches.reshape(-1, channels), 0).reshape(channels, *shape)
        return points
    batch = max(base.shape[0], shape[0]) if 0 not in (base.shape[0], shape[0]) else 0
    rest = shape[1:]
    found = patches.reshape(batch, math.prod(rest), channels)
    grid: ArrayT = _transposed(found, 1).reshape(batch, channels, *rest)
    return grid


_UNITS = ("uv", "px")


def _from_pixels(places: Array, base: Array) -> Array:
    """Places [.., 2] in pixels as uv."""
    height, width = base.shape[-2:]
    parts = [places[..., 0] / width, places[..., 1] / height]
    if not _checks.is_tensor(places):
        return np.stack(parts, -1)
    import torch

    return torch.stack(parts, -1)


def _transposed(array: Array, axis: int) -> Array:
    return array.transpose(axis, axis + 1) if _checks.is_tensor(array) else array.swapaxes(axis, axis + 1)
