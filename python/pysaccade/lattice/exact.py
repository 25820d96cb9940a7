"""Plans of exactly N patches, for models that take a fixed number of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade._operators import _checks
from pysaccade.lattice._lattice import Lattice
from pysaccade.lattice.acuity import length, level_of_detail
from pysaccade.lattice.plan import PatchPlan, even_centers

Array = Any


def exact_plan(lattice: Lattice, count: int, fixation: Array, snap: Any) -> PatchPlan:
    """Plan exactly `count` patches [.., count] around fixations.

    A nested lattice of fewer is filled up with patches of coverage 0. The centres of a grid are spread again, so that
    all lie inside the image.
    """
    plan = lattice.plan(fixation, snap=snap)
    if len(plan) == count:
        return plan
    if lattice.kind == "nested":
        return _filled_up(plan, count)
    return _spread(
        lattice, count, fixation.detach() if _checks.is_tensor(fixation) and not _follows(snap) else fixation
    )


def _follows(snap: Any) -> bool:
    return snap is False or snap == "straight_through"


def _filled_up(plan: PatchPlan, count: int) -> PatchPlan:
    assert plan.size is not None
    lod, coverage = plan._lod_to_read(), plan.coverage
    shape = (*lod.shape[:-1], count - len(plan))
    outside = [-plan.patch_size / 2 / texels for texels in plan.size[::-1]]  # beyond the image's first pixel
    if _checks.is_tensor(lod):
        import torch

        join: Any = torch.cat
        spare = lod.new_tensor(outside).expand(*shape, 2), lod.new_zeros(shape), coverage.new_zeros(shape)
    else:
        join = np.concatenate
        place: Array = np.broadcast_to(np.array(outside, lod.dtype), (*shape, 2))
        spare = place, np.zeros(shape, lod.dtype), np.zeros(shape, coverage.dtype)
    axis = len(shape) - 1
    centers = join([plan.centers, spare[0]], axis)
    lod, coverage = join([lod, spare[1]], axis), join([coverage, spare[2]], axis)
    return PatchPlan._trusted(centers, lod, coverage, plan.patch_size, plan.size)


def _spread(lattice: Lattice, count: int, fixation: Array) -> PatchPlan:
    """Of a grid: exactly `count` even centres, their resolution by the lattice's law."""
    assert lattice.size is not None
    facts = lattice._solved()
    places = even_centers(count, lattice.size)
    shape = (*fixation.shape[:-1], count, 2)
    if _checks.is_tensor(fixation):
        import torch

        inside, at = torch.nan_to_num(fixation, nan=0.5).clamp(0, 1), fixation.new_tensor(places)
        centers = at.expand(shape)
    else:
        inside, at = np.clip(fixation, 0, 1), np.array(places, fixation.dtype)
        centers = np.broadcast_to(at, shape).copy()
    delta = at - inside[..., None, :]
    across, down = (per_px * texels for per_px, texels in zip(facts.unit_per_px, lattice.size[::-1], strict=True))
    e = length(delta[..., 0] * across, delta[..., 1] * down)
    lod = level_of_detail(e, m0=facts.m0, e0=facts.e0, levels=lattice.levels)
    return PatchPlan._trusted(centers, lod, None, lattice.patch_size, lattice.size)
