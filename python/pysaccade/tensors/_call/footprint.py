"""How much of a texture a pixel covers, from the change of uv between pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade._operators import _checks

Array = Any


def footprint(
    uv_da: Array, size: tuple[int, int], shape: tuple[int, ...], max_anisotropy: int, who: str
) -> tuple[Array, Array | None]:
    """Level of detail [*P] of the footprints of pixels, and their direction [*P, 2] where anisotropy is allowed.

    The footprint is the ellipse that a unit circle becomes; lod is log2 of its longer half axis, or, with anisotropy,
    of that over the ratio of both, clamped.
    """
    if tuple(uv_da.shape) not in ((*shape, 2, 2), (*shape, 4)):
        raise ValueError(f"{who}: uv_da is {list(uv_da.shape)}; it must be {[*shape, 2, 2]}")
    xp: Any = np
    if _checks.is_tensor(uv_da):
        import torch

        xp = torch
    parts = uv_da.reshape(*shape, 4)
    height, width = size
    ux, uy, vx, vy = parts[..., 0] * width, parts[..., 1] * width, parts[..., 2] * height, parts[..., 3] * height
    # J J^T of pixels: its eigenvalues are the squares of the half axes, its first eigenvector the longer axis
    xx, yy, xy = ux * ux + uy * uy, vx * vx + vy * vy, ux * vx + uy * vy
    mean, half = (xx + yy) / 2, (xx - yy) / 2
    apart_squared = half * half + xy * xy
    tiny = float(np.finfo(_checks.dtype_name(uv_da)).tiny)
    apart = xp.sqrt(xp.where(apart_squared > tiny, apart_squared, xp.ones_like(apart_squared)))
    apart = xp.where(apart_squared > tiny, apart, xp.zeros_like(apart))
    longer = mean + apart
    safe = xp.where(longer > tiny, longer, xp.ones_like(longer) * tiny)
    lod = 0.5 * xp.log2(safe)
    if max_anisotropy == 1:
        return lod, None
    least = safe / max_anisotropy**2
    ratio = xp.sqrt(safe / xp.where(mean - apart > least, mean - apart, least))
    # (half + apart, xy) or (xy, apart - half): whichever is not short
    along_x = half >= 0
    x = xp.where(along_x, half + apart, xy)
    y = xp.where(along_x, xy, apart - half)
    length = xp.sqrt(xp.where(x * x + y * y > 0, x * x + y * y, xp.ones_like(x)))
    direction = xp.stack([x / length * ratio, y / length * ratio], -1)
    round_ = (x * x + y * y > 0)[..., None]
    flat = xp.zeros_like(direction)
    flat[..., 0] = 1
    return lod - xp.log2(ratio), xp.where(round_, direction, flat)
