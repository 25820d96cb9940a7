"""Places to look at that a caller has in memory: one, or a scanpath."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade._native import _arrays

Rows = np.ndarray[Any, np.dtype[np.float64]]


def places_of(fixation: Any, rate: Any, who: str) -> tuple[float, float] | Rows:
    """Read (u, v), or a scanpath: [n, 3] of t_s, u, v, or [n, 2] of u, v at `rate` fixations a second.

    Raises:
        TypeError, ValueError: It is neither. Ranges are left to the library.
    """
    points = _arrays.as_host_array(fixation, f"{who}: fixation").astype(np.float64)
    if points.shape == (2,):
        return float(points[0]), float(points[1])
    if points.ndim == 2 and points.shape[1] == 2:
        points = np.column_stack([np.arange(len(points)) / _rate(rate), points])
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(
            f"{who}: fixation: a scanpath is [n, 3] of t_s, u, v, or [n, 2] of u, v, not {list(points.shape)}; "
            "a place is (u, v)"
        )
    if len(points) == 0:
        raise ValueError(f"{who}: fixation: the scanpath holds no place")
    return np.ascontiguousarray(points)


def _rate(rate: Any) -> float:
    """Fixations a second; what is none is left to the library to refuse."""
    try:
        return float(rate) or 1.0
    except (TypeError, ValueError):
        return 1.0
