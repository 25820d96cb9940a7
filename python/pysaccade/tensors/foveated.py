"""Patches around a fixation: `sample_foveated`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pysaccade._operators import _checks
from pysaccade.lattice._lattice import Lattice
from pysaccade.lattice._words import Kind, Preset, Snap, Unit
from pysaccade.lattice.exact import exact_plan
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._sample_call import Pyramid, coordinates, is_traced, settings_of, texture_of
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import ArrayT, FoveatedOptions, Mode, Normalize, Padding
from pysaccade.tensors.sampling import patches_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = Any

_MOST_PATCHES = 1 << 20
_E0_OF_M0 = 0.5  # what the first documents have beside M0


@overload
def sample_foveated(
    pyramid: Pyramid[ArrayT],
    fixation: Any,
    lattice: Lattice | int | None = None,
    *,
    return_plan: Literal[False] = False,
    **options: Unpack[FoveatedOptions],
) -> ArrayT: ...
@overload
def sample_foveated(
    pyramid: Pyramid[ArrayT],
    fixation: Any,
    lattice: Lattice | int | None = None,
    *,
    return_plan: Literal[True],
    **options: Unpack[FoveatedOptions],
) -> tuple[ArrayT, PatchPlan]: ...
def sample_foveated(
    pyramid: Pyramid[Any],
    fixation: Any,
    lattice: Lattice | int | None = None,
    *,
    tokens: int | None = None,
    fovea: float | str | None = None,
    e0: float | None = None,
    m0: float | None = None,
    preset: Preset | None = None,
    unit: Unit | None = None,
    patch_size: int | None = None,
    fov_deg: float | None = None,
    sar: float | None = None,
    snap: Snap | None = None,
    dtype: Any = None,
    normalize: Normalize | None = None,
    padding: Padding = "border",
    mode: Mode = "bilinear",
    out: ArrayT | None = None,
    num_patches: int | None = None,
    M0: float | None = None,  # noqa: N803
    return_plan: bool = False,
) -> Any:
    """Sample patches that are fine at a fixation and ever coarser around it.

        >>> pyramid = sc.TexturePyramid(torch.rand(3, 512, 640))
        >>> sc.sample_foveated(pyramid, (0.3, 0.4), num_patches=273).shape
        torch.Size([273, 3, 16, 16])
        >>> patches, plan = sc.sample_foveated(pyramid, (0.3, 0.4), tokens=100, return_plan=True)
        >>> len(patches) == len(plan) <= 100
        True

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        fixation: (u, v); [2] or [K, 2] of one image; [B, 2] or [B, K, 2] of a batch. A tensor on another device is
            copied to the pyramid's.
        lattice: Where the patches lie. Left out: Lattice(tokens=..., fovea=...); with e0, m0 or a preset
            Lattice("grid", tokens=...), whose resolution follows them. A number is `num_patches`.
        tokens: How many patches inside the image, at most; 273.
        fovea: Width of full resolution, 192 (pixels) or "6deg".
        e0: Eccentricity at which resolution halves.
        m0: Magnification: lod(e) = clamp(log2((e + e0) / m0)).
        preset: A name of `acuity.PRESETS`, in place of e0, m0 and unit.
        unit: Of e0 and m0: "deg", degrees of a view of `fov_deg`, which is the default, or "uv".
        patch_size: S; 16.
        fov_deg: Horizontal field of view of the whole image; 40.
        sar: With e0, m0 or a preset: width of a pixel over its height; 1.
        snap: As Lattice.plan().
        dtype: As sample_patches().
        normalize: As sample_patches().
        padding: As sample_patches().
        mode: As sample_patches().
        out: As sample_patches().
        num_patches: In place of tokens: exactly so many. Where the lattice has fewer, the last patches lie outside the
            image and have coverage 0; those of a grid are spread so that all lie inside.
        M0: In place of m0: in uv unless `unit` is given, with e0=0.5 unless that is given.
        return_plan: Return the plan as well.

    Returns:
        Patches [B, N, C, S, S], of one image [N, C, S, S], of K fixations [B, K, N, C, S, S]. With return_plan=True
        (patches, plan).

    Raises:
        TypeError, ValueError: An argument is wrong, or conflicts with another. The text names it and what to pass.

    Convention: the fixation is uv = (x, y) in [0, 1], origin at the top left; eccentricity is in degrees, or in uv.
    """
    who = "sample_foveated"
    texture, base = texture_of(pyramid, who)
    count = texture._count
    if lattice is not None and not isinstance(lattice, Lattice):
        num_patches, lattice = _number(lattice, num_patches, who), None
    if num_patches is not None:
        num_patches = _checks.whole(num_patches, who, "num_patches", 1, _MOST_PATCHES)
        if tokens is not None:
            raise ValueError(f"{who}: num_patches is an exact number, tokens the most; pass one of them")
    if M0 is not None:
        if m0 is not None:
            raise ValueError(f"{who}: M0 is m0 in uv; pass one of them")
        m0, e0, unit = M0, _E0_OF_M0 if e0 is None else e0, "uv" if unit is None else unit
    law = {"e0": e0, "m0": m0, "preset": preset, "unit": unit, "sar": sar}
    exact = {} if num_patches is None else {"num_patches": num_patches}
    given = {**exact, "tokens": tokens, "fovea": fovea, "patch_size": patch_size, "fov_deg": fov_deg, **law}
    asked = tuple((name, value) for name, value in given.items() if value is not None)
    if lattice is None:
        follows = (e0, m0, preset) != (None, None, None)
        if not follows and ((unit, sar) != (None, None) or (fov_deg is not None and fovea is None)):
            raise ValueError(f"{who}: unit, fov_deg and sar are for e0 and m0; pass one of these, or leave them out")
        kind: Kind = "grid" if follows else "nested"
        lattice = _made(kind, asked, base, count)
    else:
        if asked:
            names = ", ".join(name for name, _ in asked)
            raise ValueError(f"{who}: {names}: these are the lattice's; leave them out, or the lattice")
        lattice = lattice.bound(base.shape[-2:], count)
    plan = _planned(lattice, num_patches, _fixation(fixation, base, who), snap)
    patches = patches_of(texture, base, plan, None, settings_of(padding, mode, who), dtype, normalize, out, who)
    return (patches, plan) if return_plan else patches


def _number(lattice: Any, num_patches: Any, who: str) -> Any:
    """`num_patches`, which came in the place of a lattice."""
    if isinstance(lattice, bool) or not isinstance(lattice, (int, np.integer)):
        raise TypeError(f"{who}: lattice takes a Lattice, or a number of patches, not {_checks.shown(lattice)}")
    if num_patches is not None:
        raise ValueError(f"{who}: num_patches came twice, in the place of a lattice too; pass it once")
    return lattice


def plan_around(texture: Texture[Any], base: Array, fixation: Any, num_patches: Any, who: str) -> PatchPlan:
    """The plan of sample_foveated(pyramid, fixation, num_patches)."""
    at = _fixation(fixation, base, who)
    exact = None if num_patches is None else _checks.whole(num_patches, who, "num_patches", 1, _MOST_PATCHES)
    asked = () if exact is None else (("num_patches", exact),)
    return _planned(_made("nested", asked, base, texture._count), exact, at, None)


def _fixation(fixation: Any, base: Array, who: str) -> Array:
    """Fixations as an array on the pyramid's device."""
    if _checks.is_tensor(fixation) and _checks.is_tensor(base) and fixation.device != base.device:
        fixation = fixation.to(base.device)
    return coordinates(fixation, base, who, "fixation", 2)


def _planned(lattice: Lattice, num_patches: int | None, fixation: Array, snap: Any) -> PatchPlan:
    if num_patches is None:
        return lattice.plan(fixation, snap=snap)
    return exact_plan(lattice, num_patches, fixation, snap)


def _made(kind: Kind, asked: tuple[tuple[str, Any], ...], base: Array, levels: int) -> Lattice:
    """The lattice of what was asked for, for images as this one."""
    height, width = base.shape[-2:]
    make = _lattice if is_traced(base) else _kept_lattice
    return make(kind, asked, (height, width), levels)


def _lattice(kind: Kind, asked: tuple[tuple[str, Any], ...], size: tuple[int, int], levels: int) -> Lattice:
    settings = dict(asked)
    if "num_patches" in settings:
        settings["tokens"] = settings.pop("num_patches")
    return Lattice(kind, size=size, levels=levels, **settings)


_kept_lattice = lru_cache(maxsize=64)(_lattice)
