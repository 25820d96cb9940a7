"""Patches around a fixation: `sample_foveated`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pysaccade._operators import _checks
from pysaccade.lattice._lattice import Lattice
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._sample_call import Pyramid, coordinates, is_traced, settings_of, texture_of
from pysaccade.tensors._types import ArrayT, Normalize, Padding, Snap, Unit
from pysaccade.tensors.sampling import patches_of

Array = Any


def sample_foveated(
    pyramid: Pyramid[ArrayT],
    fixation: Any,
    lattice: Lattice | None = None,
    *,
    tokens: int | None = None,
    fovea: float | str | None = None,
    e0: float | None = None,
    m0: float | None = None,
    preset: str | None = None,
    unit: Unit | None = None,
    patch_size: int | None = None,
    fov_deg: float | None = None,
    sar: float | None = None,
    snap: Snap | None = None,
    dtype: Any = None,
    normalize: Normalize | None = None,
    padding: Padding = "border",
    out: ArrayT | None = None,
    num_patches: int | None = None,
    M0: float | None = None,  # noqa: N803
) -> tuple[ArrayT, PatchPlan]:
    """Sample patches that are fine at a fixation and ever coarser around it.

    Args:
        pyramid: A TexturePyramid, or a list of levels.
        fixation: (u, v); [2] or [K, 2] of one image; [B, 2] or [B, K, 2] of a batch.
        lattice: Where the patches lie. Left out: Lattice(tokens=..., fovea=...); with e0, m0 or a preset
            Lattice("grid", tokens=...), whose resolution follows them.
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
        out: As sample_patches().
        num_patches: Deprecated: `tokens`.
        M0: Deprecated: `m0`.

    Returns:
        (patches [B, N, C, S, S], the plan). K fixations: [B, K, N, C, S, S].

    Convention: the fixation is uv = (x, y) in [0, 1], origin at the top left; eccentricity is in degrees, or in uv.
    """
    who = "sample_foveated"
    texture, base = texture_of(pyramid, who)
    count = texture._count
    height, width = base.shape[-2:]
    tokens, m0 = _renamed(tokens, num_patches, "num_patches", "tokens"), _renamed(m0, M0, "M0", "m0")
    law = {"e0": e0, "m0": m0, "preset": preset, "unit": unit, "sar": sar}
    given = {"tokens": tokens, "fovea": fovea, "patch_size": patch_size, "fov_deg": fov_deg, **law}
    asked = tuple((name, value) for name, value in given.items() if value is not None)
    if lattice is None:
        follows = (e0, m0, preset) != (None, None, None)
        if not follows and ((unit, sar) != (None, None) or (fov_deg is not None and fovea is None)):
            raise ValueError(f"{who}: unit, fov_deg and sar are for e0 and m0; pass one of these, or leave them out")
        kind = "grid" if follows else "nested"
        make = _lattice if is_traced(base) else _kept_lattice
        lattice = make(kind, asked, (height, width), count)
    elif not isinstance(lattice, Lattice):
        raise TypeError(f"{who}: lattice takes a Lattice, not {_checks.shown(lattice)}")
    else:
        if asked:
            names = ", ".join(name for name, _ in asked)
            raise ValueError(f"{who}: {names}: these are the lattice's; leave them out, or the lattice")
        lattice = lattice.bound((height, width), count)
    plan = lattice.plan(coordinates(fixation, base, who, "fixation", 2), snap=snap)
    settings = settings_of(padding, who)
    patches: ArrayT = patches_of(texture, base, plan, None, settings, dtype, normalize, out, who)
    return patches, plan


def _renamed(value: Any, old: Any, name: str, now: str) -> Any:
    """An argument that may be given by its old name."""
    if old is None:
        return value
    if value is not None:
        raise ValueError(f"sample_foveated: {name} is the old name of {now}; pass {now} alone")
    _checks.deprecated("sample_foveated", name, now)
    return old


def _lattice(kind: str, asked: tuple[tuple[str, Any], ...], size: tuple[int, int], levels: int) -> Lattice:
    return Lattice(kind, size=size, levels=levels, **dict(asked))


_kept_lattice = lru_cache(maxsize=64)(_lattice)
