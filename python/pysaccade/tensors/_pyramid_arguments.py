"""What a pyramid is made of, checked: sizes of textures, and levels of a caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysaccade._native._arguments import deprecated
from pysaccade._operators import _checks
from pysaccade._operators._layout import extent

Array = Any

SEVEN = _checks.Most.SEVEN
_MOST_SAMPLES = (1 << 31) - 1
FILTERING = ("exact", "hybrid", "hardware")


def persistent_size(size: Any, resolution: Any, who: str) -> tuple[int, int]:
    """(H, W) from `size` (H, W) or `resolution`, (W, H) or the side of a square."""
    if (size is None) == (resolution is None):
        raise ValueError(f"{who}: pass size=(H, W), or resolution=(W, H) or a square's side")
    if size is not None:
        return _checks.fixed_size(size, who)
    if isinstance(resolution, (int, np.integer)):
        resolution = (resolution, resolution)
    width, height = _checks.fixed_size(resolution, who, "resolution", "(W, H) or a square's side")
    return height, width


def min_samples_of(min_samples: Any, min_pixels: Any, who: str) -> int:
    """`min_samples`, or what came under its old name."""
    if min_pixels is not None:
        deprecated(who, "min_pixels", "use min_samples, which counts the samples of all channels")
        min_samples = min_pixels
    return _checks.whole(min_samples, who, "min_samples", 0, _MOST_SAMPLES)


def checked_levels(levels: Sequence[Array], who: str) -> tuple[list[Array], bool]:
    """Levels of a caller as [B,C,h,w] each, and whether they came so.

    Raises:
        TypeError, ValueError: They are no pyramid.
    """
    if is_array(levels) or not isinstance(levels, Sequence) or not levels:
        raise TypeError(f"{who}: pyramid takes a TexturePyramid or a list of levels, not {_checks.shown(levels)}")
    if len(levels) > _checks.MOST_LEVELS:
        raise ValueError(f"{who}: {len(levels)} levels; at most {_checks.MOST_LEVELS} can be sampled")
    first = levels[0]
    for index, level in enumerate(levels):
        name = f"levels[{index}]"
        _checks.require_texture(level, who, name)
        _checks.require_together(who, ("levels[0]", first), [(name, level)])
        if level.ndim not in {3, 4} or level.ndim != first.ndim or level.shape[:-2] != first.shape[:-2]:
            raise ValueError(f"{who}: {name} is {list(level.shape)}, levels[0] is {list(first.shape)}")
        if level.dtype != first.dtype:
            raise TypeError(f"{who}: {name} is {_checks.dtype_name(level)}, levels[0] is {_checks.dtype_name(first)}")
        fits = [
            (extent(texels, index, _checks.FLOOR), extent(texels, index, _checks.EDGE)) for texels in first.shape[-2:]
        ]
        if level.shape[-2] not in fits[0] or level.shape[-1] not in fits[1]:
            want = "x".join(str(max(sizes)) for sizes in fits)
            raise ValueError(f"{who}: {name} is {level.shape[-2]}x{level.shape[-1]}; of level 0 comes {want}")
    return [level if level.ndim == 4 else level[None] for level in levels], first.ndim == 4


def is_array(value: Any) -> bool:
    """Whether this is one array, not a list of them."""
    return _checks.is_tensor(value) or isinstance(value, np.ndarray)
