"""The levels of a pyramid in one picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade.picture._paint import fit
from pysaccade.picture._painter import Image

_GREY = 128


def levels_side_by_side(pyramid: Any, width: int) -> Image:
    """Level 0 at the left, the others below one another at its right, each of half the size; `width` pixels wide.

    Raises:
        ValueError: It has neither 1 nor 3 channels.
    """
    rows, cols = pyramid.size
    across = max(width * 2 // 3, 1)
    down = max(round(rows * across / cols), 1)
    picture: Image = np.full((down, width, 3), _GREY, np.uint8)
    top = 0
    for index in range(pyramid.levels):
        height = down >> index
        if height == 0:
            break
        level = fit(_colours(pyramid.level(index)), height)
        if index == 0:
            picture[:height, : level.shape[1]] = level[:, :width]
            continue
        room = picture[top : top + height, across:]
        room[:, : level.shape[1]] = level[: room.shape[0], : room.shape[1]]
        top += height
    return picture


def _colours(level: Any) -> Any:
    """A level [C,h,w] or [B,C,h,w] as [3,h,w], u8 or floats."""
    first = level[0] if level.ndim == 4 else level
    if first.shape[0] not in {1, 3}:
        raise ValueError(f"show: a pyramid of {first.shape[0]} channels; pass one of 1 or 3, as pyramid.level(0)[:3]")
    if hasattr(first, "detach"):
        first = first.detach().cpu()
        first = first.float().numpy() if first.dtype.is_floating_point else first.numpy()
    if first.dtype == np.uint16:
        first = first / np.float32(65535)
    return np.broadcast_to(first, (3, *first.shape[1:]))
