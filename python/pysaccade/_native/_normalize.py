"""Means and deviations of samples in [0, 1], as models' papers publish them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pysaccade._native._arguments import quoted

Triple = tuple[float, float, float]


class Normalization(NamedTuple):
    """(sample - mean) / std, each channel; `name`: the library's word, None: numbers of the caller's."""

    mean: Triple = (0.0, 0.0, 0.0)
    std: Triple = (1.0, 1.0, 1.0)
    name: str | None = "none"


PUBLISHED = {
    "none": Normalization(),
    "clip": Normalization((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711), "clip"),
    "imagenet": Normalization((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), "imagenet"),
    "siglip": Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), "siglip"),
}


def normalization_of(value: Any, dtype: str) -> Normalization:
    """Read the argument `normalize` of a stream: None, a name, or (mean, std) of three numbers each.

    Raises:
        TypeError, ValueError: It is none of these, or samples of this type can't be normalised.
    """
    if value is None:
        return PUBLISHED["none"]
    if isinstance(value, str):
        if value not in PUBLISHED:
            raise ValueError(f"Stream: normalize: '{value}' is not {', '.join(PUBLISHED)}, or (mean, std)")
        found = PUBLISHED[value]
    else:
        if not isinstance(value, Sequence) or len(value) != 2:
            names = ", ".join(map(repr, PUBLISHED))
            raise TypeError(f"Stream: normalize takes None, {names} or (mean, std), not {quoted(value)}")
        found = Normalization(_triple(value[0], "mean"), _triple(value[1], "std"), None)
        if min(found.std) <= 0:
            raise ValueError(f"Stream: normalize: std must be above 0, not {found.std}")
    if found.name != "none" and dtype == "u8":
        raise ValueError("Stream: normalize needs samples that can be negative; pass dtype=torch.float16 or float32")
    return found


def _triple(values: Any, what: str) -> Triple:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise TypeError(f"Stream: normalize: {what} takes three numbers, not {quoted(values)}") from None
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise ValueError(f"Stream: normalize: {what} takes three numbers, not {quoted(values)}")
    return numbers
