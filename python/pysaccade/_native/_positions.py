"""Where patches lie, in the coordinates that models use. NumPy arrays and torch tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade._native._arguments import quoted

KINDS = ("thw", "uv", "xyl")


def positions(geometry: Any, kind: str, *, size: tuple[int, int], patch_size: int, t: Any) -> Any:
    """Positions of patches, f32.

    Args:
        geometry: [..., N, 4] f32: u, v, lod, coverage.
        kind: "thw" [..., 3]: t, and the centre's row and column counted in patches of full resolution;
            "uv" [..., 2]: the centre; "xyl" [..., 3]: u, v, lod.
        size: (H, W) of the frame in pixels.
        patch_size: S, samples along a patch's side.
        t: What "thw" begins with, for example the frame's number; a number, or one for each patch.

    Convention: h = v H / S - 1/2 and w = u W / S - 1/2. Of a grid at full resolution these are 0, 1, 2 ..., to the
    bit; a coarse patch has the same unit, and mostly a fraction.

    Raises:
        ValueError: `kind` is none of these.
    """
    if kind not in KINDS:
        raise ValueError(f"positions: kind is {quoted(kind)}; it must be one of {', '.join(map(repr, KINDS))}")
    if kind == "uv":
        return geometry[..., :2] + 0
    if kind == "xyl":
        return geometry[..., :3] + 0
    height, width = size
    if isinstance(geometry, np.ndarray):
        found = np.empty((*geometry.shape[:-1], 3), np.float32)
        found[..., 0] = t
        found[..., 1:] = _in_patches(np, geometry[..., 1::-1].astype(np.float64) * (height, width), patch_size)
        return found
    import torch

    wide = geometry[..., :2].double()
    rows = _in_patches(torch, wide[..., 1] * height, patch_size)
    cols = _in_patches(torch, wide[..., 0] * width, patch_size)
    return torch.stack([torch.full_like(rows, t), rows, cols], dim=-1).float()


def _in_patches(xp: Any, centre_px: Any, patch_size: int) -> Any:
    """A centre in pixels, as a count of patches.

    u and v are f32, so that centre_px is off by its 2^-23rd part at most. Centres of lattices lie on half pixels: what
    is that near to one is one.
    """
    on_half = xp.round(centre_px * 2) / 2
    near = xp.abs(centre_px - on_half) <= xp.abs(centre_px) * 2.0**-23
    return xp.where(near, on_half, centre_px) / patch_size - 0.5
