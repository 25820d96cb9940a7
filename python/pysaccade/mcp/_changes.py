"""Where two pictures differ, as few boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

Picture = np.ndarray[Any, np.dtype[np.uint8]]
Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels

_CELL = 16  # differences at most a cell apart share a box
_MOST = 32  # boxes


def boxes_of(before: Picture, after: Picture) -> list[Box]:
    """The boxes of all pixels that differ between two pictures [H, W, 4] of one size, from the top to the bottom.

    Each edge touches a pixel that differs. Where there would be more than 32, one box holds them all.
    """
    differs = (before.view(np.uint32) != after.view(np.uint32))[..., 0]
    height, width = differs.shape
    padded = np.zeros((-(-height // _CELL) * _CELL, -(-width // _CELL) * _CELL), bool)
    padded[:height, :width] = differs
    cells = padded.reshape(padded.shape[0] // _CELL, _CELL, -1, _CELL).any(axis=(1, 3))
    groups = _groups({(row, col) for row, col in np.argwhere(cells).tolist()})
    if len(groups) > _MOST:
        groups = [set().union(*groups)]
    found = []
    for group in groups:
        rows, cols = [row for row, _ in group], [col for _, col in group]
        left, top = min(cols) * _CELL, min(rows) * _CELL
        part = differs[top : (max(rows) + 1) * _CELL, left : (max(cols) + 1) * _CELL]
        ys, xs = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        found.append((left + int(xs[0]), top + int(ys[0]), left + int(xs[-1]) + 1, top + int(ys[-1]) + 1))
    return sorted(found, key=lambda box: (box[1], box[0]))


def _groups(cells: set[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """Cells that touch each other, at a corner too."""
    groups = []
    while cells:
        waiting = [cells.pop()]
        group = set(waiting)
        while waiting:
            row, col = waiting.pop()
            near = {(row + y, col + x) for y in (-1, 0, 1) for x in (-1, 0, 1)} & cells
            cells -= near
            group |= near
            waiting.extend(near)
        groups.append(group)
    return groups


def common(one: Box, other: Box) -> Box | None:
    """What two boxes share; None: nothing."""
    box = max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])
    return box if box[0] < box[2] and box[1] < box[3] else None
