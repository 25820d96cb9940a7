"""Where the eye of a stream goes: an option of the library's."""

from __future__ import annotations

from typing import Any

import numpy as np

from pysaccade import _arrays
from pysaccade._handle import Handle


class Fixation:
    """An option of the library's."""

    def __init__(self, option: str = "saliency") -> None:
        self.option = option

    def give_to(self, handle: Handle, stream: Any) -> None:
        """Tell the library what no option says, before a source is opened."""

    def error(self) -> BaseException | None:
        """What a callable of the caller's has raised since this was asked last."""
        return None


def fixation_of(fixation: Any) -> Fixation:
    """Read the argument `fixation` of a stream.

    Raises:
        TypeError, ValueError: It is none of what Stream says.
    """
    if isinstance(fixation, str):
        return Fixation(fixation)
    points = _arrays.as_host_array(fixation, "Stream: fixation").astype(np.float64)
    if points.shape != (2,):
        raise ValueError(f"Stream: fixation: a place is (u, v), not {list(points.shape)}")
    u, v = map(float, points)
    return Fixation(f"center:{u!r},{v!r}")
