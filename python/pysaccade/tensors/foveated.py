"""Patches around a fixation: `sample_foveated`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pysaccade._operators import _checks
from pysaccade.lattice._lattice import Lattice
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._sample_call import Pyramid, Settings, coordinates, is_traced, is_zeros, texture_of
from pysaccade.tensors.pyramid import TexturePyramid
from pysaccade.tensors.sampling import patches_of, plainly

Array = Any


def sample_foveated(
    pyramid: Pyramid,
    fixation: Any,
    lattice: Lattice | None = None,
    *,
    num_patches: int | None = None,
    M0: float | None = None,  # noqa: N803
    e0: float | None = None,
    unit: str | None = None,
    patch_size: int | None = None,
    fov_deg: float | None = None,
    sar: float | None = None,
    snap: bool | str | None = None,
    dtype: Any = None,
    normalize: Any = None,
    padding: str = "border",
    out: Array | None = None,
) -> tuple[Array, PatchPlan]:
    """Sample patches that are fine at a fixation and ever coarser around it.

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        fixation: (u, v); [2] or [K, 2] of one image; [B, 2] or [B, K, 2] of a batch.
        lattice: Where the patches lie. Left out: a nested lattice of `num_patches`; with M0 or e0 a grid of
            `num_patches` whose resolution follows them.
        num_patches: At most so many; 273.
        M0: Magnification: lod(e) = clamp(log2((e + e0) / M0)).
        e0: Eccentricity at which resolution halves.
        unit: Of M0 and e0: "deg", degrees of a view of `fov_deg`, which is the default, or "uv".
        patch_size: S; 16.
        fov_deg: With M0 or e0: horizontal field of view of the whole image; 40.
        sar: With M0 or e0: width of a pixel over its height; 1.
        snap: As Lattice.plan().
        dtype: As sample_patches().
        normalize: As sample_patches().
        padding: As sample_patches().
        out: As sample_patches().

    Returns:
        (patches [B, N, C, S, S], the plan). K fixations: [B, K, N, C, S, S].

    Convention: the fixation is uv = (x, y) in [0, 1], origin at the top left; eccentricity is in degrees, or in uv.
    """
    who = "sample_foveated"
    texture = texture_of(pyramid, who)
    base = texture[2]
    count = pyramid.levels if isinstance(pyramid, TexturePyramid) else len(pyramid)
    height, width = base.shape[-2:]
    if lattice is None:
        follows = M0 is not None or e0 is not None
        if not follows and (unit, fov_deg, sar) != (None, None, None):
            raise ValueError(f"{who}: unit, fov_deg and sar are for M0 and e0; pass one of these, or leave them out")
        kind = "grid" if follows else "nested"
        settings_of = (kind, num_patches, patch_size, e0, M0, unit, fov_deg, sar, (height, width), count)
        lattice = _lattice(*settings_of) if is_traced(base) else _kept_lattice(*settings_of)
    elif not isinstance(lattice, Lattice):
        raise TypeError(f"{who}: lattice takes a Lattice, not {_checks.shown(lattice)}")
    else:
        given = {"num_patches": num_patches, "M0": M0, "e0": e0, "unit": unit, "patch_size": patch_size}
        twice = [name for name, value in {**given, "fov_deg": fov_deg, "sar": sar}.items() if value is not None]
        if twice:
            raise ValueError(f"{who}: {', '.join(twice)}: these are the lattice's; leave them out, or the lattice")
        lattice = lattice.bound((height, width), count)
    plan = lattice.plan(coordinates(fixation, base, who, "fixation", 2), snap=snap)
    if out is None and padding == "border":
        patches = plainly(pyramid, plan, dtype, normalize)
        if patches is not None:
            return patches, plan
    settings = Settings(is_zeros(padding, who), 1, True)
    return patches_of(texture, plan, None, settings, dtype, normalize, out, who), plan


def _lattice(
    kind: str,
    patches: int | None,
    patch_size: int | None,
    e0: float | None,
    m0: float | None,
    unit: str | None,
    fov_deg: float | None,
    sar: float | None,
    size: tuple[int, int],
    levels: int,
) -> Lattice:
    return Lattice(
        kind,
        patches=patches,
        patch_size=16 if patch_size is None else patch_size,
        size=size,
        levels=levels,
        e0=e0,
        m0=m0,
        unit=unit,
        fov_deg=40.0 if fov_deg is None else fov_deg,
        sar=1.0 if sar is None else sar,
    )


def around(pyramid: TexturePyramid, fixation: Any, lattice: Any) -> tuple[Array, PatchPlan] | None:
    """sample_foveated() without options, by the shortest way; None: the long way says what is wrong, or does it."""
    image: Any = pyramid._image
    if (
        lattice.__class__ is not Lattice
        or lattice.levels > pyramid._count
        or pyramid._storage is None
        or pyramid.filtering != "exact"
        or not _checks.is_tensor(fixation)
        or _checks.recording().is_watched()
        or lattice.size != image.shape[-2:]
        or fixation.device != image.device
    ):
        return None
    plan = lattice.plan(fixation)
    patches = plainly(pyramid, plan)
    return None if patches is None else (patches, plan)


_kept_lattice = lru_cache(maxsize=64)(_lattice)
