"""Patches that are coarser along one direction: `sample_anisotropic`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pysaccade._operators import _checks
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._sample_call import Pyramid, coordinates, expanded, is_traced, settings_of, texture_of
from pysaccade.tensors._types import AnisotropicOptions, ArrayT, Mode, Normalize, Padding
from pysaccade.tensors.foveated import plan_around
from pysaccade.tensors.sampling import as_plan, patches_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = Any

_MOST = 16  # probes of a sample


@overload
def sample_anisotropic(
    pyramid: Pyramid[ArrayT],
    plan: PatchPlan,
    direction: Any,
    *,
    return_plan: Literal[False] = False,
    **options: Unpack[AnisotropicOptions],
) -> ArrayT: ...
@overload
def sample_anisotropic(
    pyramid: Pyramid[ArrayT],
    plan: PatchPlan,
    direction: Any,
    *,
    return_plan: Literal[True],
    **options: Unpack[AnisotropicOptions],
) -> tuple[ArrayT, PatchPlan]: ...
@overload
def sample_anisotropic(
    pyramid: Pyramid[ArrayT],
    fixation: Any,
    text_orientation: Any,
    num_patches: int | None = None,
    /,
    *,
    return_plan: Literal[False] = False,
    **options: Unpack[AnisotropicOptions],
) -> ArrayT: ...
@overload
def sample_anisotropic(
    pyramid: Pyramid[ArrayT],
    fixation: Any,
    text_orientation: Any,
    num_patches: int | None = None,
    /,
    *,
    return_plan: Literal[True],
    **options: Unpack[AnisotropicOptions],
) -> tuple[ArrayT, PatchPlan]: ...
def sample_anisotropic(
    pyramid: Pyramid[Any],
    plan: Any,
    direction: Any,
    num_patches: int | None = None,
    *,
    max_anisotropy: int = _MOST,
    rotate: bool = True,
    dtype: Any = None,
    normalize: Normalize | None = None,
    padding: Padding = "border",
    mode: Mode = "bilinear",
    out: Array | None = None,
    return_plan: bool = False,
) -> Any:
    """Sample patches that are coarser along a direction than across it, as text is that is seen at an angle.

        >>> pyramid = sc.TexturePyramid(torch.rand(3, 64, 64))
        >>> plan = sc.Lattice(tokens=40, size=(64, 64)).plan(torch.tensor([0.5, 0.5]))
        >>> sc.sample_anisotropic(pyramid, plan, (4.0, 0.0)).shape == (len(plan), 3, 16, 16)
        True

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        plan: Where; its lod is that across the direction. Or a fixation, as sample_foveated() takes it: `direction` is
            then a stretch.
        direction: [B, N, 2], or [2] for all: (x, y) in pixels. Its length is the ratio, 1 to 16: a step along it is
            ratio * 2^lod, a step across 2^lod. Beside a fixation, the stretch of each axis, above 0: (4, 1) steps
            4 * 2^lod along x and 2^lod along y, and patches stay upright.
        num_patches: Beside a fixation: exactly so many, as sample_foveated().
        max_anisotropy: The ratio is clamped to 1 and this.
        rotate: True: a patch's x axis lies along its direction; False: patches stay upright, and only what a sample
            averages is stretched.
        dtype: As sample_patches().
        normalize: As sample_patches().
        padding: As sample_patches().
        mode: As sample_patches().
        out: As sample_patches(); not beside a fixation.
        return_plan: Return the plan as well.

    Returns:
        Patches [B, N, C, S, S] or [N, C, S, S]. A ratio of 1 along (1, 0) equals sample_patches() bit for bit. With
        return_plan=True (patches, plan).

    Raises:
        TypeError, ValueError: An argument is wrong, or conflicts with another. The text names it and what to pass.

    Convention: ceil(ratio) probes of equal weight at t = (k + 1/2)/n - 1/2 along the step, each trilinear at the plan's
    lod.
    """
    who = "sample_anisotropic"
    texture, base = texture_of(pyramid, who)
    most = _checks.whole(max_anisotropy, who, "max_anisotropy", 1, _MOST)
    settings = settings_of(padding, mode, who)._replace(max_anisotropy=most, rotate=bool(rotate))
    how = (settings, dtype, normalize, out, who)
    if not isinstance(plan, PatchPlan):
        if out is not None or rotate is not True:
            raise ValueError(
                f"{who}: out and rotate are for a plan, not for a fixation; pass Lattice(...).plan(fixation)"
            )
        plan = plan_around(texture, base, plan, num_patches, who)
        patches = _stretched(texture, base, plan, direction, how)
        return (patches, plan) if return_plan else patches
    if num_patches is not None:
        raise ValueError(f"{who}: num_patches is for a fixation; a plan has its own number")
    plan = as_plan(plan, base, who)
    patches = patches_of(texture, base, plan, _of_each(direction, base, plan, "direction"), *how)
    return (patches, plan) if return_plan else patches


def _of_each(values: Any, base: Array, plan: PatchPlan, name: str) -> Array:
    """Numbers [2] or [.., N, 2] of a caller, for each patch."""
    who = "sample_anisotropic"
    pairs = coordinates(values, base, who, name, 2, plan.centers.dtype)
    try:
        return expanded(pairs, tuple(plan.centers.shape))
    except (RuntimeError, ValueError):
        raise ValueError(
            f"{who}: {name} is {list(pairs.shape)}; it must be {list(plan.centers.shape)}, or [2] for all"
        ) from None


def _stretched(texture: Any, base: Array, plan: PatchPlan, stretch: Any, how: tuple[Any, ...]) -> Array:
    """Upright patches, whose steps along x and y are multiples of 2^lod.

    They are sampled along the longer step. Where that is y, patches come rotated by a quarter, and are rotated back.
    """
    steps = _of_each(stretch, base, plan, "text_orientation")
    if (not _checks.is_tensor(steps) or (steps.is_cpu and not is_traced(steps))) and not (steps > 0).all():
        raise ValueError(f"sample_anisotropic: text_orientation is {stretch!r}; both of its steps must be above 0")
    lod = plan._lod_to_read()
    xp: Any = np
    if _checks.is_tensor(lod):
        import torch

        xp = torch
    x, y = steps[..., 0], steps[..., 1]
    is_tall = y > x
    short, long = xp.where(is_tall, x, y), xp.where(is_tall, y, x)
    fine = xp.clip(lod + xp.log2(short), 0, None)  # nothing is finer than the image
    ratio, zero = long * xp.exp2(lod - fine), xp.zeros_like(x)
    across = PatchPlan._trusted(plan.centers, fine, None, plan.patch_size, plan.size)
    along = xp.stack([xp.where(is_tall, zero, ratio), xp.where(is_tall, ratio, zero)], -1)
    patches = patches_of(texture, base, across, along, *how)
    quarter = xp.swapaxes(xp.flip(patches, (-2,)), -2, -1)
    return xp.where(is_tall[..., None, None, None], quarter, patches)
