"""Means and deviations of samples in [0, 1], as models' papers publish them: the library's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pysaccade._native import _abi, _calls
from pysaccade._native._arguments import quoted

Triple = tuple[float, float, float]


class Normalization(NamedTuple):
    """(sample - mean) / std, each channel; `name`: the library's word, None: numbers of the caller's."""

    mean: Triple = (0.0, 0.0, 0.0)
    std: Triple = (1.0, 1.0, 1.0)
    name: str | None = "none"


@lru_cache(maxsize=1)
def _read() -> dict[str, Normalization]:
    rows = _calls.rows("saccade_normalization_describe", _abi.saccade_normalization)
    return {name: Normalization(tuple(row.mean), tuple(row.deviation), name) for name, row in rows.items()}


def published() -> dict[str, Normalization]:
    """All of them by their names; the first is "none"."""
    return _read()


# torch.compile takes the result for a constant: torch.compiler.assume_constant_result.
published._dynamo_marked_constant = True  # type: ignore[attr-defined]


def normalization_of(value: Any, dtype: str) -> Normalization:
    """Read the argument `normalize` of a stream: None, a name, or (mean, std) of three numbers each.

    Raises:
        TypeError, ValueError: It is none of these, or samples of this type can't be normalised.
    """
    if value is None:
        return Normalization()
    if isinstance(value, str):
        if value not in published():
            raise ValueError(f"Stream: normalize: '{value}' is not {', '.join(published())}, or (mean, std)")
        found = published()[value]
    else:
        if not isinstance(value, Sequence) or len(value) != 2:
            names = ", ".join(map(repr, published()))
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
